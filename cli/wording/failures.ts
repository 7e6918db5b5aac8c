/** Why a payment failed, by the service's code, as the middle of a sentence. */
export const FAILURES: Readonly<Record<string, string>> = {
  "4000": "the card could not be charged; the customer can try again",
  "4001": "the card's security code was wrong",
  "4002": "the card's issuer declined the payment",
  "4003": "the card's details were wrong",
  "4004": "the balance was too low",
  "4005": "the card's limit was exceeded",
  "4010": "the card's issuer declined the payment",
  "4011": "the card could not be validated",
  "4012": "the card's issuer declined the payment",
  "4013": "the payment was declined as too risky",
  "4014": "the bank account is in another name than the verified one",
  "4015": "the payment did not come in time",
  "4016": "the payment came after the order's time",
  "4017": "the amount paid is not the order's",
  "4018": "the customer cancelled the payment and was not charged",
};
