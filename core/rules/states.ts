/** States, the district and the inhabited territories of the USA, two letters. */
export const usStates: ReadonlySet<string> = new Set(
  `
  AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT
  NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY
  DC AS GU MP PR VI
`.trim().split(/\s+/),
);

/** Provinces and territories of Canada, two letters. */
export const canadianProvinces: ReadonlySet<string> = new Set(
  "AB BC MB NB NL NS NT NU ON PE QC SK YT".split(" "),
);
