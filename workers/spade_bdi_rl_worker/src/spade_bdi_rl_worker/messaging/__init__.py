"""Message transports between agents: inside the process, or through an XMPP server."""
