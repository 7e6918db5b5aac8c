/** The next step while the service is still to be asked. */
export const ASKED_SOON =
  "Nothing yet: the service is asked within minutes. Without a poller, ask " +
  "it: `poll --once`.";

/** The next step where the service shows what this version does not know. */
export const UNKNOWN_STATE =
  "Ask the service what the status means. A newer version may know it.";
