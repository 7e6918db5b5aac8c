// The official SDK as a script of its own, which sets `WertWidget`.
import WertWidget from "@wert-io/widget-initializer";

Object.assign(globalThis, { WertWidget });
