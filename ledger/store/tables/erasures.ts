/** Who was erased, and what must not come back. */
export const erasuresSchema: readonly string[] = [];
