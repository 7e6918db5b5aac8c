import type { ReleaseByHand } from "../../../ledger/mod.ts";

type HandOutcome = ReleaseByHand["outcome"];

/** What a basket costs, as the shop told the ledger. */
export interface BasketTerms {
  /** Click id that the customer opens the widget with. */
  readonly clickId: string;
  /** Dollars; null where the plan has no amount. */
  readonly amount: string | null;
  /** When the ledger said that it has them; null until then. */
  recordedMs: number | null;
}

/** An order that a customer paid at the shop. */
export interface ShopOrder {
  /** The order. */
  readonly orderId: string;
  /** Click id of the widget. */
  readonly clickId: string;
  /** Dollars paid. */
  readonly paid: string;
  /** When the order was made, in milliseconds of the clock. */
  readonly atMs: number;
  /** Purchase that it must be released for; null where it need not be. */
  readonly sureOf: string | null;
}

/** Goods that were shipped. */
export interface Shipment {
  /** The order that was released. */
  readonly orderId: string;
  /** What was shipped. */
  readonly purchase: string;
  /** When, in milliseconds of the clock. */
  readonly atMs: number;
}

/** What a clerk recorded about an order. */
export interface DealtByHand {
  /** What the clerk did. */
  readonly outcome: HandOutcome;
  /** Reference of what was handed out; null where none was named. */
  readonly reference: string | null;
}

/** The partner's shop: what it sells, and what it shipped. It forgets nothing. */
export class Shop {
  /** Terms of each purchase, the latest last. */
  readonly #terms = new Map<string, BasketTerms[]>();
  readonly #purchases = new Map<string, Set<string>>();
  readonly #begun = new Set<string>();
  /** Orders paid at the shop, by id. */
  readonly orders = new Map<string, ShopOrder>();
  /** Orders that the service has rewritten. */
  readonly amended = new Set<string>();
  /** What was shipped, in order. */
  readonly shipments: Shipment[] = [];
  /** What clerks recorded, and the ledger took, by order. */
  readonly byHand = new Map<string, DealtByHand>();

  /** Tells the ledger, or begins to, what a basket costs. */
  price(purchase: string, terms: BasketTerms): void {
    const all = this.#terms.get(purchase) ?? [];
    this.#terms.set(purchase, all);
    all.push(terms);
    const under = this.#purchases.get(terms.clickId) ?? new Set();
    this.#purchases.set(terms.clickId, under.add(purchase));
  }

  /** Terms of a purchase, the latest last. */
  termsOf(purchase: string): readonly BasketTerms[] {
    return this.#terms.get(purchase) ?? [];
  }

  /** Purchases that were priced under a click id. */
  purchasesOf(clickId: string): ReadonlySet<string> {
    return this.#purchases.get(clickId) ?? new Set();
  }

  /** References that were priced. */
  references(): string[] {
    return [...this.#terms.keys()].flatMap(referenceOf);
  }

  /** References that were priced under a click id. */
  referencesOf(clickId: string): string[] {
    return [...this.purchasesOf(clickId)].flatMap(referenceOf);
  }

  /** Begins to ship an order, and says whether that is for the first time. */
  begin(orderId: string): boolean {
    const isFirst = !this.#begun.has(orderId);
    this.#begun.add(orderId);
    return isFirst;
  }

  /** Ships. */
  ship(orderId: string, purchase: string, atMs: number): void {
    this.shipments.push({ orderId, purchase, atMs });
  }
}

/** Names what is bought: the reference, or the click id without one. */
export function purchaseOf(reference: string | null, clickId: string): string {
  return reference === null ? `click ${clickId}` : `basket ${reference}`;
}

/** The reference of a purchase; none of one without. */
function referenceOf(purchase: string): string[] {
  const [kind = "", ...name] = purchase.split(" ");
  return kind === "basket" ? [name.join(" ")] : [];
}
