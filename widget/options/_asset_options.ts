import {
  defaultCommodity,
  FIAT_DECIMALS,
  minimumAmount,
} from "../../core/rules/fiat_amount.ts";
import { findAsset } from "../../core/assets/assets.ts";
import { type AssetRules, pair, walletAddress } from "./_asset_checks.ts";
import { amount, type Check, listOf, oneOf, text } from "./_checks.ts";
import { type Faults, shown } from "./_faults.ts";

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
