/** Which orders a reader wants, and in which order. Sets are never empty. */
export interface OrdersQuery {
  readonly limit: number;
  readonly cursorId: string;
  readonly offset: number;
  readonly searchBy: ReadonlySet<string> | null;
  readonly ascending: boolean;
  readonly startMs: number | null;
  readonly endMs: number | null;
  readonly status: string | null;
  readonly commodity: string | null;
  readonly userIds: ReadonlySet<string> | null;
  readonly cardId: string | null;
  readonly txId: string | null;
  readonly failReason: string | null;
  readonly paymentType: string | null;
}
