// SPDX-License-Identifier: Apache-2.0
import { el } from "../dom.js";
import { t } from "../texts.js";
import { button } from "./basics.js";
import { found } from "./pin.js";

/** The interval between two looks at the camera's picture, in milliseconds. */
const lookInterval = 250;
/** The longer side of the camera's picture and of a chosen one when they are searched, in pixels. */
const cameraSideMax = 960;
const pictureSideMax = 1_600;

/** A reader of QR codes, from the camera or from a picture; `onText` receives a text that has a PIN. */
export function qrReader(onText) {
  const video = el("video", { class: "camera", hidden: true, "aria-label": t("qr.camera") });
  video.muted = true;
  video.playsInline = true;
  const status = el("p", { role: "status", "data-message": "qr" });
  const say = (text) => {
    if (status.textContent !== text) status.textContent = text;
  };
  const stop = () => stopCamera(video, stopButton);
  const stopButton = button("qr-stop", t("action.stop"), stop);
  stopButton.hidden = true;
  const take = (text) => {
    if (found(text) !== null) {
      say("");
      onText(text);
      return true;
    }
    say(t("qr.noPIN"));
    return false;
  };
  const picture = el("input", {
    type: "file", accept: "image/*", id: "qr-picture", "data-action": "qr-picture",
    on: {
      change: async () => {
        const [file] = picture.files;
        if (!file) return;
        say("");
        const read = await decoder(say);
        if (!read) return;
        const text = read(await opened(file), pictureSideMax);
        if (text === null) say(t("qr.notFound"));
        else take(text);
        // The same picture can be chosen once more.
        picture.value = "";
      },
    },
  });
  const start = async () => {
    const read = await decoder(say);
    if (!read) return;
    if (!(await startCamera(video))) {
      say(t("qr.noCamera"));
      return;
    }
    stopButton.hidden = false;
    say(t("qr.looking"));
    const hasPIN = await lookForCode(read, video, take);
    stop();
    if (!hasPIN) say("");
  };
  return el("div", { class: "qr" }, video, status,
    el("div", { class: "actions" }, button("qr-camera", t("qr.useCamera"), start), stopButton),
    el("div", { class: "field" }, el("label", { for: "qr-picture" }, t("qr.picture")), picture));
}

/** The function that reads the code in a picture; null, with an explanation, if it cannot be loaded. */
async function decoder(say) {
  try {
    const { readCode } = await import("../qr/read.js");
    return (source, sideMax) => source && readCode(pixels(source, sideMax));
  } catch {
    say(t("failure.offline"));
    return null;
  }
}

/** The pixels of a picture or a video, not larger than necessary. */
function pixels(source, sideMax) {
  const [width, height] = [source.videoWidth ?? source.width, source.videoHeight ?? source.height];
  const scale = Math.min(1, sideMax / Math.max(width, height));
  const canvas = el("canvas");
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  context.drawImage(source, 0, 0, canvas.width, canvas.height);
  return context.getImageData(0, 0, canvas.width, canvas.height);
}

/** The picture in a file; null if the file is not a picture. */
async function opened(file) {
  try {
    return await createImageBitmap(file);
  } catch {
    return null;
  }
}

async function startCamera(video) {
  try {
    video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
    video.hidden = false;
    await video.play();
    return true;
  } catch {
    stopCamera(video);
    return false;
  }
}

function stopCamera(video, stopButton) {
  for (const track of video.srcObject?.getTracks() ?? []) track.stop();
  video.srcObject = null;
  video.hidden = true;
  if (!stopButton) return;
  const hadFocus = document.activeElement === stopButton;
  stopButton.hidden = true;
  if (hadFocus) stopButton.previousElementSibling.focus();
}

/**
 * Looks at the picture of the camera until `take` accepts the text of a code, the camera stops or the
 * screen is left. Returns true in the first case.
 */
async function lookForCode(read, video, take) {
  while (video.srcObject && video.isConnected) {
    const text = read(video, cameraSideMax);
    if (text !== null && take(text)) return true;
    await new Promise((resolve) => setTimeout(resolve, lookInterval));
  }
  return false;
}
