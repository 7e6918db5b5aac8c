import type {
  AnyAssetPair,
  AssetPair,
  WidgetAssetTable,
} from "./asset_pair.ts";

/**
 * Where a widget opens, and which assets it may sell. The client's environments
 * are assignable to it.
 */
export interface WidgetEnvironment {
  /** Origin of the widget, without a trailing slash. */
  readonly widgetOrigin: string;
  /**
   * Asset table to check against.
   *
   * @default {"production"}
   */
  readonly assets?: WidgetAssetTable;
}

/** A preset's name, or an environment of your own. */
export type WidgetEnvironmentChoice =
  | "production"
  | "sandbox"
  | WidgetEnvironment;

/**
 * The pairs that an environment sells, as far as its type tells; any pair
 * where unlisted ones are let through.
 */
export type PairsIn<Choice, Unlisted = false> = [Unlisted] extends [false]
  ? AssetPair<TableOf<Choice>>
  : AnyAssetPair;

/**
 * The fiat currencies an environment takes: the sandbox takes only USD; any
 * where unlisted ones are let through.
 */
export type CurrenciesIn<Choice, Unlisted = false> = [Unlisted] extends [false]
  ? TableOf<Choice> extends "sandbox" ? "USD" : "USD" | "EUR"
  : string;

/** The asset table of an environment, as far as its type tells. */
export type TableOf<Choice> = Choice extends WidgetAssetTable ? Choice
  : Choice extends { readonly assets: infer Table extends WidgetAssetTable }
    ? Table
  : WidgetAssetTable;

const presets: Readonly<Record<WidgetAssetTable, Required<WidgetEnvironment>>> =
  {
    production: {
      widgetOrigin: "https://widget.wert.io",
      assets: "production",
    },
    sandbox: { widgetOrigin: "https://sandbox.wert.io", assets: "sandbox" },
  };

/**
 * Resolves a preset's name, or checks an environment of your own.
 *
 * @param choice A preset's name, or an origin and an asset table.
 * @returns The bare origin, as the SDK wants it, and the asset table.
 * @throws {TypeError} When the name is unknown, or the origin is not a bare
 * `http:` or `https:` origin.
 *
 * @example Find the widget's origin
 * ```ts
 * import { widgetEnvironment } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * const { widgetOrigin } = widgetEnvironment("sandbox");
 * assert.equal(widgetOrigin, "https://sandbox.wert.io");
 * ```
 */
export function widgetEnvironment(
  choice: WidgetEnvironmentChoice,
): Required<WidgetEnvironment> {
  if (typeof choice === "string") {
    if (Object.hasOwn(presets, choice)) return presets[choice];
    throw new TypeError(
      `Cannot resolve the widget's environment: ${JSON.stringify(choice)} is ` +
        `not "production", "sandbox" or an object with widgetOrigin`,
    );
  }
  const { widgetOrigin, assets = "production" } = choice;
  if (!Object.hasOwn(presets, assets)) {
    throw new TypeError(
      `Cannot resolve the widget's environment: assets is ` +
        `${JSON.stringify(assets)}; use "production" or "sandbox"`,
    );
  }
  return { widgetOrigin: bareOrigin(widgetOrigin), assets };
}

// The SDK hands the origin to postMessage and builds the address by joining
// strings: a path or a trailing slash would break the one or the other.
function bareOrigin(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null;
  const bare = url !== null && /^https?:$/.test(url.protocol) &&
    url.origin === value.replace(/\/$/, "");
  if (bare) return url.origin;
  throw new TypeError(
    `Cannot resolve the widget's environment: widgetOrigin is ` +
      `${JSON.stringify(value)}; use a bare http or https origin`,
  );
}
