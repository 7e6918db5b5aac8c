import { failReasons } from "../core/assets/fail_reason.ts";
import type { AssetTable } from "../core/assets/environment.ts";
import { ExactNumber } from "../core/json/exact_number.ts";
import { defined } from "../core/guards.ts";
import type {
  OrderInput,
  SandboxFees,
  SandboxOrder,
  StepFacts,
} from "./orders.ts";
import {
  centsFor,
  decimalOf,
  type Market,
  marketOf,
  marketsOf,
  unitsFor,
  unitsOf,
} from "./prices.ts";
import type { Random } from "./random.ts";
import {
  seededAddress,
  seededExternalId,
  seededInputData,
  seededTransaction,
  seededUlid,
  seededUuid,
} from "./seeded.ts";
import type { SandboxCard, SandboxUser, UserInput } from "./users.ts";

/** Countries of users: alpha-3, alpha-2, beginning of a phone number. */
const COUNTRIES = [
  ["USA", "US", "+1"],
  ["DEU", "DE", "+49"],
  ["FRA", "FR", "+33"],
  ["JPN", "JP", "+81"],
  ["EST", "EE", "+372"],
] as const;

const BRANDS = ["VISA", "MASTERCARD"];
const DECLINES = ["Declined by issuer", "Insufficient funds", "Do not honor"];

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
    const address = seededAddress(network, random);
    const inputData = seededInputData(random, 36);
    const [card] = user.cards;
    const order: SandboxOrder = {
      orderId,
      externalOrderId: seededExternalId(random),
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
    const txId = seededTransaction(network, random);
    const failReason = random.pick(failReasons);
    return {
      atMs,
      txId,
      failReason,
      errorText: random.pick([...DECLINES, "4004"]),
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
      currencyAmount: currencyAmount ?? decimalOf(cost(), 2),
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
    currencyAmount: currencyAmount ?? decimalOf(paid, 2),
    cryptoAmount: decimalOf(bought, market.decimals),
  };
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
