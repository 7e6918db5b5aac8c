import type {
  ConnectionInfo,
  WebhookEndpointOptions,
} from "./endpoint_options.ts";

/** The address of the connection, where the transport has one. */
export function connectionAddress(
  _request: Request,
  info: ConnectionInfo | undefined,
): string | null {
  const remote = info?.remoteAddr;
  if (remote === undefined || !("hostname" in remote)) return null;
  return typeof remote.hostname === "string" ? remote.hostname : null;
}

/** An option that must be a positive number, or its preset. */
export function positive<Name extends keyof WebhookEndpointOptions>(
  options: WebhookEndpointOptions,
  name: Name,
  preset: number,
): number {
  const value = options[name] ?? preset;
  if (typeof value === "number" && value > 0) return value;
  throw new RangeError(
    `Cannot mount endpoint: ${name} must be positive, current value is ${value}`,
  );
}
