/** Which of the two documented asset tables holds. */
export type AssetTable = "production" | "sandbox";

/** An environment of the service: where it lives and what it sells. */
export interface Environment {
  /** Name, used as the ledger's stamp and in messages. */
  readonly name: string;
  /** Origin of the partner API, without a trailing slash. */
  readonly baseUrl: string;
  /** Origin of card registration, without a trailing slash. */
  readonly cardsBaseUrl: string;
  /** Origin of the widget; the widget's `origin` option. */
  readonly widgetOrigin: string;
  /** Address of the partner dashboard. */
  readonly dashboardUrl: string;
  /** Asset table to check sessions and widget options against. */
  readonly assets: AssetTable;
}

/** An environment of your own, for a proxy or a local sandbox. */
export interface CustomEnvironment extends Omit<Environment, "assets"> {
  /**
   * Asset table to check against.
   *
   * @default {"production"}
   */
  readonly assets?: AssetTable;
}

/** The production preset. */
export const production: Environment = Object.freeze({
  name: "production",
  baseUrl: "https://partner.wert.io",
  cardsBaseUrl: "https://cards.wert.io",
  widgetOrigin: "https://widget.wert.io",
  dashboardUrl: "https://partner.wert.io",
  assets: "production",
});

/** The sandbox preset: USD and sandbox assets only. */
export const sandbox: Environment = Object.freeze({
  name: "sandbox",
  baseUrl: "https://partner-sandbox.wert.io",
  cardsBaseUrl: "https://cards-reg-iframe-sandbox.wert.io",
  widgetOrigin: "https://sandbox.wert.io",
  dashboardUrl: "https://partner-sandbox.wert.io",
  assets: "sandbox",
});

const addresses = [
  "baseUrl",
  "cardsBaseUrl",
  "widgetOrigin",
  "dashboardUrl",
] as const;

/**
 * Resolves a preset's name, or checks an environment of your own.
 *
 * Addresses lose their trailing slashes; the asset table defaults to
 * production's.
 *
 * @param environment A preset's name, or addresses of your own.
 * @returns A frozen environment.
 * @throws {TypeError} When the name is unknown or an address is not an
 * absolute `http:` or `https:` URL.
 *
 * @example Point at a local sandbox
 * ```ts
 * import { resolveEnvironment, sandbox } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * const local = resolveEnvironment({
 *   ...sandbox,
 *   name: "local",
 *   baseUrl: "http://127.0.0.1:8080/",
 * });
 * assert.equal(local.baseUrl, "http://127.0.0.1:8080");
 * ```
 */
export function resolveEnvironment(
  environment: "production" | "sandbox" | CustomEnvironment,
): Environment {
  if (environment === "production") return production;
  if (environment === "sandbox") return sandbox;
  if (typeof environment !== "object" || environment === null) {
    throw new TypeError(
      `Cannot resolve the environment: ${JSON.stringify(environment)} is not ` +
        `"production", "sandbox" or an object of addresses`,
    );
  }
  if (typeof environment.name !== "string" || environment.name === "") {
    throw new TypeError(
      "Cannot resolve the environment: name is empty; give it a name of its own",
    );
  }
  const assets = environment.assets ?? "production";
  if (assets !== "production" && assets !== "sandbox") {
    throw new TypeError(
      `Cannot resolve the environment: assets is ${JSON.stringify(assets)}; ` +
        `use "production" or "sandbox"`,
    );
  }
  const resolved = { ...environment, assets };
  for (const field of addresses) {
    resolved[field] = address(field, environment[field]);
  }
  return Object.freeze(resolved);
}

function address(field: string, value: unknown): string {
  const url = typeof value === "string" && URL.canParse(value)
    ? new URL(value)
    : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      `Cannot resolve the environment: ${field} is ${JSON.stringify(value)}; ` +
        "use an absolute http or https URL",
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError(
      `Cannot resolve the environment: ${field} holds credentials; remove them`,
    );
  }
  return (value as string).replace(/\/+$/, "");
}
