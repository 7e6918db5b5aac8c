import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { base58, bech32, createBase58check } from "@scure/base";
import { encodeTime } from "ulid";
import { assetDecimals } from "../core/assets/assets.ts";
import type { AssetTable } from "../core/assets/environment.ts";
import { failReasons } from "../core/assets/fail_reason.ts";
import { tonAddress } from "../core/chain/canonical.ts";
import { decimalOfUnits, isDecimal, unitsOfDecimal } from "../core/decimal.ts";
import { defined } from "../core/guards.ts";
import { ExactNumber } from "../core/json/json.ts";
import type { Random } from "./random.ts";
import type {
  OrderInput,
  SandboxCard,
  SandboxFees,
  SandboxOrder,
  SandboxUser,
  StepFacts,
  UserInput,
} from "./sandbox.ts";

// Amounts and prices

/** Smallest units of an amount that may be anything a person typed. */
export function unitsOf(text: string, decimals: number): bigint {
  if (isDecimal(text)) return unitsOfDecimal(text, decimals);
  throw new TypeError(
    `Cannot read an amount: "${text}" is not a plain decimal; use digits ` +
      'with an optional point, such as "100.5"',
  );
}

/** Adds zeros until there are at least `places` decimals: 10 -> 10.00. */
export function withPlaces(text: string, places: number): string {
  const [whole = "0", fraction = ""] = text.split(".");
  return `${whole}.${fraction.padEnd(places, "0")}`;
}

/** An asset at a fixed, invented price. */
interface Market {
  readonly commodity: string;
  readonly network: string;
  readonly decimals: number;
  /** Price in US cents of one unit of the asset. */
  readonly cents: bigint;
}

/** Assets that simulated customers buy, and their prices in US cents. */
const PRICES: Readonly<
  Record<AssetTable, readonly (readonly [string, string, bigint])[]>
> = {
  sandbox: [
    ["POL", "amoy", 42n],
    ["ETH", "sepolia", 312_345n],
    ["TT", "sepolia", 100n],
    ["TT", "solana", 100n],
    ["cUSDC", "sepolia", 100n],
    ["SOL", "solana", 15_678n],
    ["XTZ", "ghostnet", 61n],
  ],
  production: [
    ["POL", "polygon", 42n],
    ["ETH", "ethereum", 312_345n],
    ["BTC", "bitcoin", 9_123_456n],
    ["USDC", "base", 100n],
    ["USDT", "bsc", 100n],
    ["SOL", "solana", 15_678n],
  ],
};

/** The markets of an asset table. */
export function marketsOf(table: AssetTable): readonly Market[] {
  return PRICES[table].map(([commodity, network]) =>
    marketOf(table, commodity, network)
  );
}

/** The market of an asset; one dollar a unit where it has no price. */
export function marketOf(
  table: AssetTable,
  commodity: string,
  network: string,
): Market {
  const row = PRICES[table].find((row) =>
    row[0].toUpperCase() === commodity.toUpperCase() && row[1] === network
  );
  const name = row?.[0] ?? commodity;
  const decimals = assetDecimals(table, name, network) ?? 18;
  return { commodity: name, network, decimals, cents: row?.[2] ?? 100n };
}

/** Smallest units of the asset that `cents` buy, rounded down. */
export function unitsFor(market: Market, cents: bigint): bigint {
  return cents * 10n ** BigInt(market.decimals) / market.cents;
}

/** Cents that `units` cost, rounded up to the next cent. */
export function centsFor(market: Market, units: bigint): bigint {
  const scale = 10n ** BigInt(market.decimals);
  return (units * market.cents + scale - 1n) / scale;
}

// Identifiers, addresses and transactions

const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const HEX = "0123456789abcdef";

/** A ULID of the given time, its random part from the seed. */
export function seededUlid(timeMs: number, random: Random): string {
  return encodeTime(Math.max(0, Math.floor(timeMs))) +
    random.text(CROCKFORD, 16);
}

/** A UUID v4 from the seed. */
export function seededUuid(random: Random): string {
  const hex = random.text(HEX, 30);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-` +
    `${random.text("89ab", 1)}${hex.slice(15, 18)}-${hex.slice(18)}`;
}

/** A transaction of a network, in its own form. */
export function seededTransaction(network: string, random: Random): string {
  return transactionOf(network, random.text(HEX, 64));
}

const base58check = createBase58check(sha256);

/** An address of 20 bytes in hex, and a transaction of 32 bytes in hex. */
type Forms = readonly [
  address: (seed: string) => string,
  transaction: (seed: string) => string,
];

const same = (seed: string) => seed;
const tezos: Forms = [
  (seed) => base58check.encode(prefixed([6, 161, 159], hexToBytes(seed))),
  (seed) => base58check.encode(prefixed([5, 116], hexToBytes(seed))),
];
const concordium: Forms = [
  (seed) => base58check.encode(prefixed([1], longer(seed))),
  same,
];

/** How the networks that are not of Ethereum's kin write what they have. */
const FORMS: Readonly<Record<string, Forms>> = {
  bitcoin: [
    (seed) => bech32.encode("bc", [0, ...bech32.toWords(hexToBytes(seed))]),
    same,
  ],
  concordium,
  // The service's name for tokens on Concordium.
  mainnet: concordium,
  near: [
    (seed) => bytesToHex(longer(seed)),
    (seed) => base58.encode(hexToBytes(seed)),
  ],
  solana: [
    (seed) => base58.encode(longer(seed)),
    (seed) => base58.encode(concatBytes(hexToBytes(seed), longer(seed))),
  ],
  stacks: [stacksAddress, (seed) => `0x${seed}`],
  tezos,
  ghostnet: tezos,
  ton: [(seed) => tonAddress(bytesToHex(longer(seed))), same],
};

/**
 * The address that twenty bytes in hex stand for, in its network's own form,
 * with the checksum that the form has; Ethereum's where no other is known.
 */
export function addressOf(network: string, seed: string): string {
  return FORMS[network.toLowerCase()]?.[0](seed) ?? `0x${seed}`;
}

/** The transaction that 32 bytes in hex stand for, in its network's own form. */
export function transactionOf(network: string, seed: string): string {
  return FORMS[network.toLowerCase()]?.[1](seed) ?? `0x${seed}`;
}

/** 32 bytes made of a seed, where a form wants more than it has. */
function longer(seed: string): Uint8Array {
  return sha256(hexToBytes(seed));
}

function prefixed(prefix: readonly number[], rest: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.from(prefix), rest);
}

/** A single-signature address: c32check of version 22. */
function stacksAddress(seed: string): string {
  const version = 22;
  const check = sha256(sha256(prefixed([version], hexToBytes(seed))));
  let rest = BigInt(`0x${seed}${bytesToHex(check.slice(0, 4))}`);
  let text = "";
  for (; rest > 0n; rest /= 32n) {
    text = CROCKFORD.charAt(Number(rest % 32n)) + text;
  }
  return `S${CROCKFORD.charAt(version)}${text}`;
}

// Orders and users

/** Countries of users: alpha-3, alpha-2, beginning of a phone number. */
const COUNTRIES = [
  ["USA", "US", "+1"],
  ["DEU", "DE", "+49"],
  ["FRA", "FR", "+33"],
  ["JPN", "JP", "+81"],
  ["EST", "EE", "+372"],
] as const;

const BRANDS = ["VISA", "MASTERCARD"];
const DECLINES = [
  ...["Declined by issuer", "Insufficient funds", "Do not honor", "4004"],
];

/** No letters that look like digits. */
const READABLE = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/** Makes orders and users from the seed. Always draws all, so that seeds repeat. */
export class Factory {
  readonly #orders: Random;
  readonly #users: Random;
  readonly #facts: Random;
  readonly #sessions: Random;
  readonly #table: AssetTable;
  readonly #markets: readonly Market[];

  constructor(random: Random, table: AssetTable) {
    this.#orders = random.fork("orders");
    this.#users = random.fork("users");
    this.#facts = random.fork("facts");
    this.#sessions = random.fork("sessions");
    this.#table = table;
    this.#markets = marketsOf(table);
  }

  /** An identifier of a session, a request or a visit. */
  uuid(): string {
    return seededUuid(this.#sessions);
  }

  order(input: OrderInput, user: SandboxUser, atMs: number): SandboxOrder {
    const random = this.#orders;
    const orderId = seededUlid(atMs, random);
    const market = this.#market(input, random);
    const { commodity, network } = market;
    const amounts = amountsOf(input, market, random);
    const isContract = input.cryptoType
      ? input.cryptoType === "sc"
      : random.chance(0.15);
    const clickId = seededUuid(random);
    const sessionId = seededUuid(random);
    const address = addressOf(network, random.text(HEX, 40));
    const inputData = `0x${random.text(HEX, 72)}`;
    const [card] = user.cards;
    const order: SandboxOrder = {
      orderId,
      externalOrderId: random.text(READABLE, 6),
      clickId,
      sessionId: isContract ? null : sessionId,
      userId: user.userId,
      cardId: card?.cardId ?? seededUlid(atMs, random),
      cardBrand: card?.brand ?? random.pick(BRANDS),
      currency: this.#table === "sandbox" || random.chance(0.8) ? "USD" : "EUR",
      ...amounts,
      commodity,
      network,
      cryptoType: isContract ? "sc" : "simple",
      address,
      scAddress: isContract ? address : null,
      scInputData: isContract ? inputData : null,
      fees: random.chance(0.7)
        ? feesOf(unitsOf(amounts.currencyAmount, 2))
        : null,
      processedThrough: random.chance(0.7) ? "acquirer_1" : null,
      paymentType: random.pick(["3ds_v2", "non_3ds", "unknown"]),
      additionalData: random.chance(0.1)
        ? { risk: { score: new ExactNumber("0.100000000000000001") } }
        : null,
      status: "created",
      ...{ failReason: "", errorText: "", txId: "", transferStarted: false },
      ...{ createdAtMs: atMs, changedAtMs: atMs, history: [] },
    };
    const whole: SandboxOrder = { ...order, ...defined(input), ...amounts };
    return { ...whole, history: [{ status: whole.status, atMs }] };
  }

  user(input: UserInput, atMs: number): SandboxUser {
    const random = this.#users;
    const [country, phoneCountry, dial] = random.pick(COUNTRIES);
    const user: SandboxUser = {
      userId: seededUlid(atMs, random),
      country,
      phone: dial + random.text("0123456789", 10),
      phoneCountry,
      ...{ lkyc: "not initiated", fkyc: "not initiated", banned: false },
      ...{ createdAtMs: atMs, createdByPartner: false },
      ...{ spentCents: 0n, goodsSpentCents: 0n, cards: [] },
    };
    return { ...user, ...defined(input) };
  }

  /** A card with a number ending in `lastDigits`, or any. */
  card(atMs: number, lastDigits?: string, brand?: string): SandboxCard {
    const random = this.#users;
    const digits = random.text("0123456789", 4);
    const either = random.pick(BRANDS);
    return {
      cardId: seededUlid(atMs, random),
      brand: brand ?? either,
      lastDigits: lastDigits ?? digits,
      createdAtMs: atMs,
    };
  }

  /** Facts for a step on a network. */
  facts(network: string, atMs: number): StepFacts {
    const random = this.#facts;
    return {
      atMs,
      txId: seededTransaction(network, random),
      failReason: random.pick(failReasons),
      errorText: random.pick(DECLINES),
    };
  }

  #market({ commodity, network }: OrderInput, random: Random): Market {
    const any = random.pick(this.#markets);
    if (commodity === undefined && network === undefined) return any;
    const named =
      this.#markets.find((market) =>
        market.commodity.toUpperCase() ===
          (commodity ?? market.commodity).toUpperCase() &&
        market.network === (network ?? market.network)
      ) ?? any;
    return marketOf(
      this.#table,
      commodity ?? named.commodity,
      network ?? named.network,
    );
  }
}

/** Both amounts: a given one decides the other at the market's price. */
function amountsOf(
  { currencyAmount, cryptoAmount }: OrderInput,
  market: Market,
  random: Random,
): Pick<SandboxOrder, "currencyAmount" | "cryptoAmount"> {
  const cents = BigInt(random.int(500, 50_000));
  // Uneven last digits, so that an amount read as a float comes out wrong.
  const unevenUnits = BigInt(random.int(1, 9_999));
  const isWhole = random.chance(0.1);
  if (cryptoAmount !== undefined) {
    const cost = () => centsFor(market, unitsOf(cryptoAmount, market.decimals));
    return {
      cryptoAmount,
      currencyAmount: currencyAmount ?? decimalOfUnits(cost(), 2),
    };
  }
  const paid = currencyAmount === undefined
    ? cents
    : unitsOf(currencyAmount, 2);
  const units = unitsFor(market, paid);
  const scale = 10n ** BigInt(market.decimals);
  const bought = isWhole && units >= scale
    ? units / scale * scale
    : units > unevenUnits
    ? units - unevenUnits
    : units;
  return {
    currencyAmount: currencyAmount ?? decimalOfUnits(paid, 2),
    cryptoAmount: decimalOfUnits(bought, market.decimals),
  };
}

/** One percent for the partner and four for the service. */
function feesOf(cents: bigint): SandboxFees {
  return {
    partnerFee: decimalOfUnits(cents, 4),
    partnerFeePercent: "0.01",
    serviceFee: decimalOfUnits(cents * 4n, 4),
    serviceFeePercent: "0.04",
  };
}
