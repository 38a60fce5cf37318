"""Where people meet it: magics, events, channel, controls, the server's extension, commands of the shell."""
