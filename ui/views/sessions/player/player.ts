import { type eventWithTime, Replayer, ReplayerEvents } from "@posthog/rrweb";
import { inertEvents } from "./inert.ts";
import type { PlayerCommand, PlayerNotice } from "./protocol.ts";

// Runs in a frame of its own, with a policy of its own (src/sim/server/page-rows.ts). It gets events from the page that
// embeds it, and has no access to the control API: its policy allows no connection.

const post = (notice: PlayerNotice): void => parent.postMessage(notice, location.origin);

let replayer: Replayer | undefined;
let options = { speed: 1, skipsIdle: true };
let size = { width: 1280, height: 720 };
let isPlaying = false;
/** Time between the first event of the recording and the first that is played. */
let lead = 0;

/** Fits the recorded page into the frame. */
function fitToFrame(): void {
  if (!replayer) return;
  const scale = Math.min(1, innerWidth / size.width, innerHeight / size.height);
  const { style } = replayer.wrapper;
  style.transform = `scale(${scale})`;
  style.width = `${size.width}px`;
  style.height = `${size.height}px`;
  style.left = `${Math.max(0, (innerWidth - size.width * scale) / 2)}px`;
  post({ type: "size", ...size, scale });
}

function load({ events, at }: Extract<PlayerCommand, { type: "load" }>): void {
  replayer?.destroy();
  replayer = undefined;
  isPlaying = false;
  document.body.replaceChildren();
  const inert = inertEvents(events);
  if (inert.events.length < 2) {
    post({ type: "failed", text: "the recording has nothing that can be played" });
    return;
  }
  const first = inert.events[0]?.timestamp ?? 0;
  lead = first - (events[0]?.timestamp ?? first);
  replayer = new Replayer(inert.events as unknown as eventWithTime[], {
    root: document.body,
    speed: options.speed,
    skipInactive: options.skipsIdle,
    showWarning: false,
    showDebug: false,
    // the recorded page must not take the focus from the controls
    triggerFocus: false,
    UNSAFE_replayCanvas: false,
    mouseTail: { duration: 500, lineCap: "round", lineWidth: 2, strokeStyle: "#3a78dc" },
  });
  replayer.on(ReplayerEvents.Resize, (given) => {
    const { width, height } = given as { width: number; height: number };
    size = { width, height };
    fitToFrame();
  });
  replayer.on(ReplayerEvents.Finish, () => {
    isPlaying = false;
    post({ type: "finished" });
  });
  const { totalTime } = replayer.getMetaData();
  post({ type: "loaded", unloaded: inert.unloaded, length: totalTime + lead });
  replayer.pause(Math.max(0, at - lead));
  fitToFrame();
}

/** Between two notices of the time, ms. */
const pace = 50;

function tick(): void {
  if (!isPlaying || !replayer) return;
  post({ type: "time", at: replayer.getCurrentTime() + lead });
  setTimeout(tick, pace);
}

function obey(command: PlayerCommand): void {
  switch (command.type) {
    case "load":
      load(command);
      break;
    case "play":
      replayer?.play(Math.max(0, command.at - lead));
      if (!isPlaying && replayer) {
        isPlaying = true;
        tick();
      }
      break;
    case "pause":
      isPlaying = false;
      replayer?.pause(Math.max(0, command.at - lead));
      break;
    case "set":
      options = command;
      replayer?.setConfig({ speed: command.speed, skipInactive: command.skipsIdle });
  }
}

addEventListener("message", ({ source, origin, data }) => {
  if (source === parent && origin === location.origin) obey(data as PlayerCommand);
});
addEventListener("resize", fitToFrame);
// a damaged recording must not break the page around it
addEventListener("error", (event) => {
  event.preventDefault();
  post({ type: "failed", text: event.message });
});
post({ type: "ready" });
