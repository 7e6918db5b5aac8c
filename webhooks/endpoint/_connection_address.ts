import type { ConnectionInfo } from "./endpoint_options.ts";

/** The address of the connection, where the transport has one. */
export function connectionAddress(
  _request: Request,
  info: ConnectionInfo | undefined,
): string | null {
  const remote = info?.remoteAddr;
  if (remote === undefined || !("hostname" in remote)) return null;
  return typeof remote.hostname === "string" ? remote.hostname : null;
}
