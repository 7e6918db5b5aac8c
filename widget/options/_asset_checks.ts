import { isRecord } from "../../core/guards.ts";
import { hasWalletShape } from "../../core/rules/wallet_shape.ts";
import { assets, findAsset, networksOf } from "../../core/assets/assets.ts";
import type { AnyAssetPair, WidgetAssetTable } from "./asset_pair.ts";
import type { Check } from "./_checks.ts";
import { type Faults, shown } from "./_faults.ts";

/** What assets are checked against. */
export interface AssetRules {
  readonly table: WidgetAssetTable;
  readonly allowsUnlisted: boolean;
}

const keyOf = { commodity: "commodity", name: "name" } as const;

/** A pair of commodity (or, in wallets, `name`) and network. */
export function pair(
  rules: AssetRules,
  commodityKey: keyof typeof keyOf = "commodity",
): Check<AnyAssetPair> {
  return (value, path, faults) => {
    if (!isRecord(value)) {
      const hint = `is ${shown(value)}; use { ${commodityKey}, network }`;
      return faults.add("type", path, value, hint);
    }
    const commodity = value[commodityKey];
    const { network } = value;
    const at = (key: string) => path === "" ? key : `${path}.${key}`;
    const hasBoth = isName(commodity, at(commodityKey), faults);
    if (!isName(network, at("network"), faults) || !hasBoth) return undefined;
    const asset = { commodity: String(commodity), network: String(network) };
    if (rules.allowsUnlisted) return asset;
    return listed(asset, at(commodityKey), at("network"), rules.table, faults);
  };
}

function isName(value: unknown, path: string, faults: Faults): boolean {
  if (typeof value === "string" && /^[\w.-]+$/.test(value)) return true;
  if (value === undefined) {
    faults.add("required", path, value, "is missing; name both or neither");
  } else if (typeof value !== "string") {
    faults.add("type", path, value, `is ${shown(value)}, no string`);
  } else faults.add("format", path, value, `is ${shown(value)}; use a name`);
  return false;
}

function listed(
  asset: AnyAssetPair,
  commodityPath: string,
  networkPath: string,
  table: WidgetAssetTable,
  faults: Faults,
): AnyAssetPair | undefined {
  const { commodity, network } = asset;
  const found = findAsset(table, commodity, network);
  if (found?.commodity === commodity && found.network === network) return asset;
  const newer = "or set allowUnlistedAssets for one that is new";
  if (found !== null) {
    const is = `is ${shown(commodity)} on ${shown(network)}`;
    const spelling = `${shown(found.commodity)} on ${shown(found.network)}`;
    const hint = `${is}; the service spells it ${spelling}`;
    return faults.add("unlisted", commodityPath, commodity, hint);
  }
  const networks = networksOf(table, commodity);
  if (networks.length > 0) {
    const hint = `is ${shown(network)}; ${table} has ${shown(commodity)} on ` +
      `${networks.join(", ")}; use one, ${newer}`;
    return faults.add("unlisted", networkPath, network, hint);
  }
  const names = new Set(assets[table].map((entry) => entry.commodity));
  const hint = `is ${shown(commodity)}; ${table} has ${
    [...names].join(", ")
  }; use one, ${newer}`;
  return faults.add("unlisted", commodityPath, commodity, hint);
}

/** A default wallet: listed pair, address in the network's form. */
export function wallet(
  rules: AssetRules,
): Check<{ name: string; network: string; address: string }> {
  const asset = pair(rules, "name");
  return (value, path, faults) => {
    const found = asset(value, path, faults);
    if (!isRecord(value)) return undefined;
    const at = `${path}.address`;
    const address = walletAddress(found?.network)(value.address, at, faults);
    for (const key of Object.keys(value)) {
      if (["name", "network", "address"].includes(key)) continue;
      const hint = "is unknown; use name, network and address";
      faults.add("unknown", `${path}.${key}`, value[key], hint);
    }
    if (found === undefined || address === undefined) return undefined;
    return { name: found.commodity, network: found.network, address };
  };
}

/** An address, checked for the outer form of its network where known. */
export function walletAddress(network: string | undefined): Check<string> {
  return (value, path, faults) => {
    if (typeof value !== "string") {
      const hint = value === undefined ? "is missing" : "is no string";
      const code = value === undefined ? "required" : "type";
      return faults.add(code, path, value, `${hint}; use a wallet address`);
    }
    const fits = /^\S+$/.test(value) &&
      (network === undefined || hasWalletShape(network, value));
    if (fits) return value;
    const where = network === undefined ? "" : ` of ${network}`;
    const hint = `is ${shown(value)}, no address${where}; the widget would ` +
      "drop it";
    return faults.add("format", path, value, hint);
  };
}
