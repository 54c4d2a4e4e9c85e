"""How agents reach one another: inside the process, or through an XMPP server."""
