/** Which users a reader wants, and in which order. Sets are never empty. */
export interface UsersQuery {
  readonly limit: number;
  readonly offset: number;
  readonly ascending: boolean;
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly userIds: ReadonlySet<string> | null;
  readonly lkyc: string | null;
  readonly fkyc: string | null;
  readonly phoneCountry: string | null;
  readonly kycCountry: string | null;
}
