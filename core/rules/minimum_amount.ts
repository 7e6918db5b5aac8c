/**
 * The least fiat amount of an order.
 *
 * Source: service interface, "POST /api/external/hpp/create-session": 30 for
 * BTC; otherwise 1, which is stated for USD alone.
 *
 * @param commodity The asset, in any case.
 * @param currency The fiat currency; USD where it is not known.
 * @returns A decimal; null when no minimum is stated.
 */
export function minimumAmount(
  commodity: string,
  currency: unknown = "USD",
): "30" | "1" | null {
  if (commodity.toUpperCase() === "BTC") return "30";
  return currency === "EUR" ? null : "1";
}
