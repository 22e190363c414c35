/** What the help says below the options; lines fit a terminal of 80 columns. */
export const helpTail = `Each option can also be set by its environment variable (in brackets), or in
the nearest phx-sim.config.json at or above the current folder, such as
{"port": 7490, "adopt-tokens": true}. A flag wins over the variable, the
variable over the file, the file over the default. "redaction" in that file has
your own rules for tapes: what is secret, what is not, what to ignore.

Environment:
  PHX_SIM_…              one for each option, in brackets after it
  PHX_SIM_URL            the sim that client commands ask (status, events …)
  NO_COLOR, FORCE_COLOR  never use bold and colors; use them without a terminal

Exit codes:
  0  success                           4  an upstream or the network failed
  1  an expectation was not met        5  no running sim was found
  2  usage or configuration mistake    130, 143  ended by SIGINT, SIGTERM
  3  cannot start (port, data folder, scenario)
  exec ends with its command's own code: 128+n after signal n, 126 and 127 when
  it cannot be run`;
