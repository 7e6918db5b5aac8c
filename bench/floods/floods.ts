/** What a flood is aimed at. */
export interface FloodTarget {
  /** Which flood. */
  readonly kind: FloodKind;
  /** Address of the endpoint, without a path. */
  readonly url: string;
  /** Address of the API. */
  readonly apiUrl: string;
  /** The secret of the webhook address, which the flooder knows. */
  readonly secret: string;
}

/** Each flood, and what it does. */
export const FLOODS = {
  none: "nothing",
  orders: "a hundred new orders a second, of three webhooks each",
  large: "six senders of 1 MiB bodies, one after the other",
  medium: "six senders of 64 KiB bodies",
  small: "sixteen senders of 8 KiB bodies",
  half: "500 connections with the half of a 1 MiB body each, again and again",
  short_half: "1,100 connections with the half of a 16 KiB body each",
  unread_metrics:
    "1,100 connections with 40 requests for metrics each, which read nothing",
  unread_deliveries:
    "1,100 connections with 40 deliveries each, which read nothing",
  unread_pages:
    "1,100 connections with 40 requests for the largest page of the API each, which read nothing",
  long_ids:
    "two senders of new identifiers as long as may be, four readers of the largest page",
  pages: "eight readers of the largest page of the API",
} as const;

/** The name of a flood. */
export type FloodKind = keyof typeof FLOODS;
