import type { Expectation } from "./expectation.ts";
import type { Fact } from "./fact.ts";

/**
 * What leads to an order: a widget session, a click id, an external id, or a
 * reference of what the partner expects of it.
 */
export interface Link {
  /** What kind of id it is. */
  readonly kind: "session" | "click" | "external" | "reference";
  /** The id. */
  readonly link: string;
}

/** A link that a fact of an order brings. */
export interface FactLink extends Link {
  /** Whether the service has shown it; otherwise only webhooks name it. */
  readonly confirmed: boolean;
}

/** A link as one text, to look it up by. */
export function linkKey({ kind, link }: Link): string {
  return `${kind}:${link}`;
}

/** Links that the facts of one order bring, each once. */
export class OrderLinks {
  /** The links, by {@linkcode linkKey}. */
  readonly all: Map<string, FactLink> = new Map();
  readonly #last: { [Kind in Link["kind"]]: FactLink | null } = {
    session: null,
    click: null,
    external: null,
    reference: null,
  };

  /**
   * Takes in the links of a fact. Most facts of an order bring those of the fact
   * before, so that nothing is made of them.
   */
  add(fact: Fact): void {
    const confirmed = fact.kind === "order_snapshot";
    this.#add("session", fact.sessionId, confirmed);
    this.#add("click", fact.clickId, confirmed);
    this.#add("external", externalId(fact), confirmed);
  }

  #add(
    kind: Link["kind"],
    link: string | null | undefined,
    confirmed: boolean,
  ): void {
    const last = this.#last[kind];
    if (!link || (last?.link === link && last.confirmed >= confirmed)) return;
    const key = linkKey({ kind, link });
    const known = this.all.get(key);
    const one = { kind, link, confirmed: confirmed || !!known?.confirmed };
    this.#last[kind] = one;
    this.all.set(key, one);
  }
}

function externalId(fact: Fact): string | null | undefined {
  switch (fact.kind) {
    case "webhook":
      return fact.body?.externalOrderId;
    case "order_snapshot":
      return fact.reading.externalOrderId;
    default:
      return null;
  }
}

/** Links by which an expectation finds the orders that it concerns. */
export function expectationLinks(
  { clickId, reference }: Pick<Expectation, "clickId" | "reference">,
): Link[] {
  const links: Link[] = [];
  if (clickId !== null) links.push({ kind: "click", link: clickId });
  if (reference !== null) links.push({ kind: "reference", link: reference });
  return links;
}
