"""What the command line and the shell share: printing, bars of progress, interrupts, compilation ahead, continuations of expressions."""
