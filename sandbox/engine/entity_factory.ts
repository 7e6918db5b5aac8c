import { assetDecimals } from "../../core/assets/assets.ts";
import { failReasons } from "../../core/assets/fail_reason.ts";
import {
  decimalOf,
  seededAddress,
  seededExternalId,
  seededInputData,
  seededTransaction,
  seededUlid,
  seededUuid,
  unitsOf,
} from "../seeded/seeded_values.ts";
import {
  centsFor,
  type Market,
  marketOf,
  marketsOf,
  unitsFor,
} from "./markets.ts";
import { ExactNumber } from "../../core/json/exact_number.ts";
import type { StepFacts } from "./order_steps.ts";
import type { Random } from "../seeded/random.ts";
import type { SandboxFees, SandboxOrder } from "./sandbox_order.ts";
import type { SandboxCard, SandboxUser } from "./sandbox_user.ts";

/** Fields of a new order that the caller decides; the seed decides the rest. */
export type OrderInput = Partial<
  Omit<SandboxOrder, "orderId" | "createdAtMs" | "changedAtMs" | "history">
>;

/** Fields of a new user that the caller decides; the seed decides the rest. */
export type UserInput = Partial<Omit<SandboxUser, "userId" | "createdAtMs">>;

const COUNTRIES = [
  { alpha3: "USA", alpha2: "US", dial: "+1" },
  { alpha3: "DEU", alpha2: "DE", dial: "+49" },
  { alpha3: "FRA", alpha2: "FR", dial: "+33" },
  { alpha3: "JPN", alpha2: "JP", dial: "+81" },
  { alpha3: "EST", alpha2: "EE", dial: "+372" },
] as const;

const DECLINE_TEXTS = [
  "Declined by issuer",
  "Insufficient funds",
  "Do not honor",
  "4004",
];

/** Makes orders and users from the seed. */
export class EntityFactory {
  readonly #orders: Random;
  readonly #users: Random;
  readonly #facts: Random;
  readonly #sessions: Random;
  readonly #table: "production" | "sandbox";
  readonly #markets: readonly Market[];

  constructor(random: Random, table: "production" | "sandbox") {
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

  /** A new order of `user`, created at `atMs`. */
  order(input: OrderInput, user: SandboxUser, atMs: number): SandboxOrder {
    const random = this.#orders;
    const orderId = seededUlid(atMs, random);
    const market = this.#market(input, random);
    const amounts = this.#amounts(input, market, random);
    const contract = input.cryptoType
      ? input.cryptoType === "sc"
      : random.chance(0.15);
    const clickId = seededUuid(random);
    const sessionId = seededUuid(random);
    const address = seededAddress(market.network, random);
    const inputData = seededInputData(random, 36);
    const card = user.cards[0];
    const order: SandboxOrder = {
      orderId,
      externalOrderId: seededExternalId(random),
      clickId,
      sessionId: contract ? null : sessionId,
      userId: user.userId,
      cardId: card?.cardId ?? seededUlid(atMs, random),
      cardBrand: card?.brand ?? random.pick(["VISA", "MASTERCARD"]),
      currency: this.#table === "sandbox" || random.chance(0.8) ? "USD" : "EUR",
      ...amounts,
      commodity: market.commodity,
      network: market.network,
      cryptoType: contract ? "sc" : "simple",
      address,
      scAddress: contract ? address : null,
      scInputData: contract ? inputData : null,
      fees: random.chance(0.7)
        ? feesOf(unitsOf(amounts.currencyAmount, 2))
        : null,
      processedThrough: random.chance(0.7) ? "acquirer_1" : null,
      paymentType: random.pick(["3ds_v2", "non_3ds", "unknown"]),
      additionalData: random.chance(0.1)
        ? { risk: { score: new ExactNumber("0.100000000000000001") } }
        : null,
      status: "created",
      failReason: "",
      errorText: "",
      txId: "",
      transferStarted: false,
      createdAtMs: atMs,
      changedAtMs: atMs,
      history: [],
    };
    const whole = { ...order, ...defined(input), ...amounts };
    return { ...whole, history: [{ status: whole.status, atMs }] };
  }

  /** A new user, created at `atMs`. */
  user(input: UserInput, atMs: number): SandboxUser {
    const random = this.#users;
    const country = random.pick(COUNTRIES);
    const user: SandboxUser = {
      userId: seededUlid(atMs, random),
      country: country.alpha3,
      phone: country.dial + random.text("0123456789", 10),
      phoneCountry: country.alpha2,
      lkyc: "not initiated",
      fkyc: "not initiated",
      banned: false,
      createdAtMs: atMs,
      createdByPartner: false,
      spentCents: 0n,
      goodsSpentCents: 0n,
      cards: [],
    };
    return { ...user, ...defined(input) };
  }

  /** A card with a number ending in `lastDigits`, or any. */
  card(atMs: number, lastDigits?: string, brand?: string): SandboxCard {
    const random = this.#users;
    const digits = random.text("0123456789", 4);
    const either = random.pick(["VISA", "MASTERCARD"]);
    return {
      cardId: seededUlid(atMs, random),
      brand: brand ?? either,
      lastDigits: lastDigits ?? digits,
      createdAtMs: atMs,
    };
  }

  /** Facts for a step on a network. Always draws all, so that seeds repeat. */
  facts(network: string, atMs: number): StepFacts {
    const random = this.#facts;
    const txId = seededTransaction(network, random);
    const failReason = random.pick(failReasons);
    return { atMs, txId, failReason, errorText: random.pick(DECLINE_TEXTS) };
  }

  #market(input: OrderInput, random: Random): Market {
    const any = random.pick(this.#markets);
    if (input.commodity === undefined && input.network === undefined) {
      return any;
    }
    const named = this.#markets.find((market) =>
      (input.commodity === undefined ||
        market.commodity.toUpperCase() === input.commodity.toUpperCase()) &&
      (input.network === undefined || market.network === input.network)
    );
    const commodity = input.commodity ?? named?.commodity ?? any.commodity;
    const network = input.network ?? named?.network ?? any.network;
    const decimals = assetDecimals(this.#table, commodity, network) ?? 18;
    return marketOf(this.#markets, commodity, network, decimals);
  }

  /** Both amounts: a given one decides the other at the market's price. */
  #amounts(
    input: OrderInput,
    market: Market,
    random: Random,
  ): Pick<SandboxOrder, "currencyAmount" | "cryptoAmount"> {
    const cents = BigInt(random.int(500, 50_000));
    // Uneven last digits, so that an amount read as a float comes out wrong.
    const unevenUnits = BigInt(random.int(1, 9_999));
    const whole = random.chance(0.1);
    const { currencyAmount, cryptoAmount } = input;
    if (currencyAmount !== undefined && cryptoAmount !== undefined) {
      return { currencyAmount, cryptoAmount };
    }
    if (cryptoAmount !== undefined) {
      const units = unitsOf(cryptoAmount, market.decimals);
      return {
        cryptoAmount,
        currencyAmount: decimalOf(centsFor(market, units), 2),
      };
    }
    const paid = currencyAmount === undefined
      ? cents
      : unitsOf(currencyAmount, 2);
    const units = unitsFor(market, paid);
    const scale = 10n ** BigInt(market.decimals);
    const bought = whole && units >= scale
      ? units / scale * scale
      : units > unevenUnits
      ? units - unevenUnits
      : units;
    return {
      currencyAmount: currencyAmount ?? decimalOf(paid, 2),
      cryptoAmount: decimalOf(bought, market.decimals),
    };
  }
}

/** One percent for the partner and four for the service. */
function feesOf(cents: bigint): SandboxFees {
  return {
    partnerFee: decimalOf(cents, 4),
    partnerFeePercent: "0.01",
    serviceFee: decimalOf(cents * 4n, 4),
    serviceFeePercent: "0.04",
  };
}

/** Without the fields that are undefined. */
function defined<T extends object>(input: T): T {
  return Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== undefined),
  ) as T;
}
