import { el } from "../dom.js";
import { t } from "../texts.js";
import { button } from "./basics.js";

/** The interval between two looks at the camera's picture, in milliseconds. */
const lookInterval = 250;

/** A reader of QR codes, from the camera or from a picture; `onText` receives what it reads. */
export function qrReader(onText) {
  if (!("BarcodeDetector" in window)) {
    return el("p", { class: "muted", "data-message": "qr-unavailable" }, t("qr.unavailable"));
  }
  const detector = new window.BarcodeDetector({ formats: ["qr_code"] });
  const video = el("video", { class: "camera", hidden: true, "aria-label": t("qr.camera") });
  video.muted = true;
  video.playsInline = true;
  const status = el("p", { role: "status", "data-message": "qr" });
  const stop = () => {
    for (const track of video.srcObject?.getTracks() ?? []) track.stop();
    video.srcObject = null;
    video.hidden = true;
  };
  const picture = el("input", {
    type: "file", accept: "image/*", id: "qr-picture", "data-action": "qr-picture",
    on: {
      change: async () => {
        const [file] = picture.files;
        if (!file) return;
        status.textContent = await readPicture(detector, file, onText) ? "" : t("qr.notFound");
      },
    },
  });
  const start = async () => {
    try {
      video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
    } catch {
      status.textContent = t("qr.noCamera");
      return;
    }
    video.hidden = false;
    await video.play();
    status.textContent = t("qr.looking");
    const text = await lookForCode(detector, video);
    stop();
    status.textContent = "";
    if (text) onText(text);
  };
  return el("div", { class: "qr" }, video, status,
    el("div", { class: "actions" }, button("qr-camera", t("qr.useCamera"), start),
      button("qr-stop", t("action.stop"), stop)),
    el("div", { class: "field" }, el("label", { for: "qr-picture" }, t("qr.picture")), picture));
}

async function readPicture(detector, file, onText) {
  try {
    const codes = await detector.detect(await createImageBitmap(file));
    if (codes.length === 0) return false;
    onText(codes[0].rawValue);
    return true;
  } catch {
    return false;
  }
}

/** Looks at the picture of the camera until a code is seen, the camera stops or the screen is left. */
async function lookForCode(detector, video) {
  while (video.srcObject) {
    if (!video.isConnected) {
      for (const track of video.srcObject.getTracks()) track.stop();
      return null;
    }
    const codes = await detector.detect(video).catch(() => []);
    if (codes.length > 0) return codes[0].rawValue;
    await new Promise((resolve) => setTimeout(resolve, lookInterval));
  }
  return null;
}
