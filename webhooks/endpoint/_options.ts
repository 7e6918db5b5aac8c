import type { WebhookEndpointOptions } from "./endpoint_options.ts";

/** The value of an option that must be positive, or its default. */
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
