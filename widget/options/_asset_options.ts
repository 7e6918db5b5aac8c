import {
  defaultCommodity,
  FIAT_DECIMALS,
  minimumAmount,
} from "../../core/rules/fiat_amount.ts";
import { assets, findAsset, networksOf } from "../../core/assets/assets.ts";
import {
  amount,
  type Check,
  type Faults,
  listOf,
  oneOf,
  shown,
  text,
} from "./_checks.ts";
import { isRecord } from "../../core/guards.ts";
import { hasWalletShape } from "../../core/rules/wallet_shape.ts";
import type { AnyAssetPair, WidgetAssetTable } from "./asset_pair.ts";

/** Checks the options that depend on each other through the asset. */
export function checkAssets(
  input: Readonly<Record<string, unknown>>,
  rules: AssetRules,
  faults: Faults,
  set: (name: string, value: unknown) => void,
): void {
  const { commodity, network, commodities, currencies } = input;
  const hasAsset = commodity !== undefined || network !== undefined;
  const asset = hasAsset
    ? pair(rules)({ commodity, network }, "", faults)
    : undefined;
  set("commodity", asset?.commodity);
  set("network", asset?.network);
  // Without a default asset of the page's own the service's counts.
  let paidFor = asset?.commodity ?? defaultCommodity(rules.table);
  if (commodities !== undefined) {
    const pairs = listOf(pair(rules), keyOf)(
      commodities,
      "commodities",
      faults,
    );
    set("commodities", pairs && JSON.stringify(pairs));
    if (pairs?.every((one) => one.commodity !== paidFor)) {
      paidFor = asset?.commodity ?? "";
    }
    if (asset && pairs && !pairs.map(keyOf).includes(keyOf(asset))) {
      const hint = "is the default asset, but is not among commodities";
      faults.add("conflict", "commodity", commodity, hint);
    }
  }
  if (currencies !== undefined) {
    const currency = fiat(rules);
    const list = listOf(currency, String)(currencies, "currencies", faults);
    set("currencies", list && JSON.stringify(list));
  }
  if (input.address !== undefined) {
    const check = walletAddress(asset?.network);
    set("address", check(input.address, "address", faults));
  }
  const listed = asset &&
    findAsset(rules.table, asset.commodity, asset.network);
  if (input.commodity_amount !== undefined) {
    const check = amount(listed?.decimals ?? 18);
    const value = input.commodity_amount;
    set("commodity_amount", check(value, "commodity_amount", faults));
  }
  if (input.currency_amount !== undefined) {
    const minimum = Number(minimumAmount(paidFor));
    set("currency_amount", fiatAmount(input.currency_amount, minimum, faults));
  }
  if (input.sc_address !== undefined && listed?.smartContracts === false) {
    const hint = `is ${shown(commodity)}, which cannot pay for smart contracts`;
    faults.add("unavailable", "commodity", commodity, hint);
  }
}

function keyOf(asset: { commodity: string; network: string }): string {
  return `${asset.commodity} ${asset.network}`;
}

function fiat(rules: AssetRules): Check<string> {
  return (value, path, faults) => {
    if (value === "EUR" && rules.table === "sandbox" && !rules.allowsUnlisted) {
      const hint = 'is "EUR", which the sandbox does not have; use USD';
      return faults.add("unavailable", path, value, hint);
    }
    if (!rules.allowsUnlisted) {
      return oneOf(["USD", "EUR"])(value, path, faults);
    }
    return text({ form: /^[A-Z]{3}$/, hint: "an ISO code" })(
      value,
      path,
      faults,
    );
  };
}

function fiatAmount(value: unknown, minimum: number, faults: Faults) {
  const path = "currency_amount";
  const checked = amount(FIAT_DECIMALS)(value, path, faults);
  if (checked === undefined || checked >= minimum) return checked;
  const hint = `is ${shown(value)}; use at least ${minimum}`;
  return faults.add("range", path, value, hint);
}

/** What assets are checked against. */
export interface AssetRules {
  readonly table: WidgetAssetTable;
  readonly allowsUnlisted: boolean;
}

/** A pair of commodity (or, in wallets, `name`) and network. */
export function pair(
  rules: AssetRules,
  commodityKey: "commodity" | "name" = "commodity",
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
      const hint = value === undefined ? "is missing" : "is not a string";
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
