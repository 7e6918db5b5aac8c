/**
 * Answers calls in groups: those that come while a group is worked on, and those
 * of one turn of the event loop, are worked on together by the next one.
 */
export function grouped<Item, Answer>(
  work: (items: readonly Item[]) => Promise<(item: Item) => Answer>,
): (item: Item) => Promise<Answer> {
  let waiting: {
    readonly item: Item;
    readonly resolve: (answer: Answer) => void;
    readonly reject: (error: unknown) => void;
  }[] = [];
  let isWorking = false;
  const workOff = async () => {
    isWorking = true;
    await Promise.resolve(); // Calls of this turn join the first.
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      try {
        const answerOf = await work(group.map(({ item }) => item));
        for (const { item, resolve } of group) resolve(answerOf(item));
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    isWorking = false;
  };
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isWorking) void workOff();
    });
}
