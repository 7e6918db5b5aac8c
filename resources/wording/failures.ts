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

/** What a customer is told of a declined payment, by the service's code. */
export const DECLINED: Readonly<Record<string, string>> = {
  "4000": "Your card could not be charged. Please try again, or use another " +
    "card.",
  "4001":
    "The security code of your card was not correct. Please try again and " +
    "check the three or four digits on the card.",
  "4002": "Your bank declined the payment. Please ask your bank, or use " +
    "another card.",
  "4003": "Your card details were not correct. Please try again and check " +
    "number and date.",
  "4004": "There was not enough money for the payment. Please use another " +
    "card or a smaller amount.",
  "4005": "The payment was above the limit of your card. Please use another " +
    "card or a smaller amount.",
  "4010": "Your bank declined the payment. Please ask your bank, or use " +
    "another card.",
  "4011": "Your card could not be checked. Please try again, or use another " +
    "card.",
  "4012": "Your bank declined the payment. Please ask your bank, or use " +
    "another card.",
  "4013":
    "Our payment partner did not accept the payment. Please use another " +
    "way to pay.",
  "4014": "The name of the bank account is not the name that was verified. " +
    "Please pay from an account in your own name.",
};
