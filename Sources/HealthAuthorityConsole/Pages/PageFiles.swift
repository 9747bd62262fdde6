// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The style sheet of all pages. The colours have a contrast of at least 4.5 to 1 in both schemes.
enum PageStyle {
  static let sheet = """
    :root { color-scheme: light dark; --page:#f5f7f8; --surface:#fff; --text:#16202a; --muted:#4a5763; --line:#d3dae0;
      --control:#6b7885; --accent:#14507f; --on-accent:#fff; --tint:#e5eef6; --danger:#9c2219; --on-danger:#fff;
      --danger-tint:#fbe6e3; --good:#17633f; --good-tint:#e2f2e8; --series-1:#14507f; --series-2:#3f7d20;
      --series-3:#a3590b; }
    @media (prefers-color-scheme: dark) { :root { --page:#10161c; --surface:#1a222a; --text:#e8eef3; --muted:#b0bcc7;
      --line:#36424d; --control:#8d9aa6; --accent:#8fc3ee; --on-accent:#0b2337; --tint:#182c3d; --danger:#ffb0a6;
      --on-danger:#4a0b06; --danger-tint:#421b17; --good:#86d9a8; --good-tint:#15302a; --series-1:#8fc3ee;
      --series-2:#9ed47d; --series-3:#f0b26a; } }
    *, ::before, ::after { box-sizing: border-box; }
    [hidden] { display: none !important; }
    html { font: 100%/1.55 system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
      background: var(--page); color: var(--text); overflow-wrap: break-word; }
    body { margin: 0; }
    h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; }
    h2 { font-size: 1.2rem; margin: 1.75rem 0 .5rem; }
    h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
    .card > h2:first-child { margin-top: 0; }
    p { margin: .5rem 0; max-width: 42rem; }
    a { color: var(--accent); text-underline-offset: .2em; }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: .25rem; }
    main:focus { outline: none; }
    .skip { position: absolute; left: .5rem; top: -4rem; background: var(--accent); color: var(--on-accent);
      padding: .75rem 1rem; border-radius: .5rem; z-index: 2; }
    .skip:focus { top: .5rem; }
    .bar { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.5rem; padding: .75rem 1.25rem;
      background: var(--surface); border-bottom: 1px solid var(--line); }
    .brand { font-weight: 700; margin: 0 auto 0 0; }
    .brand a { color: inherit; text-decoration: none; display: inline-block; padding: .5rem 0; }
    .bar ul { list-style: none; display: flex; gap: .25rem; margin: 0; padding: 0; }
    .languages a { display: inline-block; padding: .5rem .625rem; border-radius: .5rem; text-decoration: none; }
    .languages [aria-current] { background: var(--tint); font-weight: 650; }
    .sign-out { display: flex; align-items: center; gap: .75rem; }
    .sign-out p { margin: 0; color: var(--muted); }
    .columns { display: grid; grid-template-columns: 14rem minmax(0, 60rem); gap: 2rem; padding: 1.5rem 1.25rem 4rem;
      max-width: 80rem; margin: 0 auto; }
    .columns.single { grid-template-columns: minmax(0, 1fr); }
    .menu ul { list-style: none; margin: 0; padding: 0; position: sticky; top: 1rem; }
    .menu a { display: block; padding: .625rem .75rem; border-radius: .5rem; color: var(--text);
      text-decoration: none; }
    .menu a:hover { background: var(--tint); }
    .menu [aria-current] { background: var(--tint); font-weight: 650; box-shadow: inset 3px 0 var(--accent); }
    .lead { font-size: 1.075rem; color: var(--muted); margin-bottom: 1.25rem; }
    .help { color: var(--muted); font-size: .9375rem; }
    .narrow { max-width: 30rem; margin: 2rem auto 0; }
    .card { background: var(--surface); border: 1px solid var(--line); border-radius: .875rem; padding: 1.25rem;
      margin: 1.25rem 0; }
    .cards { list-style: none; margin: 0; padding: 0; display: grid; gap: 1rem;
      grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); }
    .cards a { display: block; height: 100%; padding: 1.125rem 1.25rem; background: var(--surface); color: var(--text);
      border: 1px solid var(--line); border-radius: .875rem; text-decoration: none; }
    .cards a:hover { border-color: var(--accent); }
    .cards strong { display: block; color: var(--accent); font-size: 1.075rem; }
    .cards span { color: var(--muted); }
    label, legend { display: block; font-weight: 600; margin: 1rem 0 .25rem; padding: 0; }
    .choice { font-weight: 400; margin: .25rem 0; padding: .375rem 0; }
    .choice input { width: 1.125rem; height: 1.125rem; margin: 0 .5rem 0 0; vertical-align: -.15em; }
    fieldset { border: 0; margin: 1rem 0 0; padding: 0; }
    input[type=text], input[type=password], input[type=tel], input[type=date], input[type=number], input[type=file],
    textarea { font: inherit; color: inherit; background: var(--surface); width: 100%; min-height: 2.875rem;
      padding: .5rem .75rem; border: 1.5px solid var(--control); border-radius: .5rem; }
    input.drop { border-style: dashed; padding: 1.5rem .75rem; }
    progress { width: 100%; max-width: 42rem; height: 1.25rem; accent-color: var(--accent); }
    summary { cursor: pointer; padding: .5rem 0; color: var(--accent); }
    .numbers { display: grid; gap: .25rem 1rem; grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); }
    .numbers.table { grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); }
    .numbers label { font-weight: 400; margin-top: .5rem; }
    .numbers input { width: 6rem; }
    .unit { color: var(--muted); }
    select { font: inherit; color: inherit; background: var(--surface); width: 100%; min-height: 2.875rem;
      padding: .5rem .75rem; border: 1.5px solid var(--control); border-radius: .5rem; }
    textarea, .code, code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
    code { overflow-wrap: anywhere; }
    .time { white-space: nowrap; }
    td > code, tbody th > code { display: inline-block; min-width: 11rem; }
    .short { max-width: 8rem; display: block; }
    button, .button { font: inherit; font-weight: 600; display: inline-flex; align-items: center; min-height: 2.875rem;
      padding: .5rem 1.125rem;
      border: 1.5px solid var(--control); border-radius: .625rem; background: var(--surface); color: var(--text);
      text-decoration: none; cursor: pointer; margin-top: 1rem; }
    button:hover, .button:hover { border-color: var(--accent); }
    .primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
    .danger { background: var(--danger); border-color: var(--danger); color: var(--on-danger); }
    .quiet { margin: 0; min-height: 2.5rem; padding: .25rem .75rem; font-weight: 500; white-space: nowrap; }
    .actions { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; }
    td.actions { display: table-cell; }
    #issued .time { white-space: normal; }
    td.actions form { display: inline-block; margin: 0 .25rem .5rem 0; }
    .or { text-align: center; color: var(--muted); max-width: none; }
    .passkey button { width: 100%; margin: 0; justify-content: center; }
    .fault, .notice, .attention { padding: .75rem 1rem; border-radius: .5rem; border-left: 4px solid;
      max-width: 42rem; }
    .fault { background: var(--danger-tint); color: var(--danger); }
    .notice { background: var(--good-tint); color: var(--good); }
    .attention { background: var(--tint); border-color: var(--accent); padding-left: 2rem; margin: .75rem 0; }
    .secret { background: var(--tint); border-radius: .5rem; padding: .75rem 1rem; overflow-wrap: anywhere; }
    .issued { text-align: center; }
    .issued p { margin-inline: auto; }
    .big-code { font: 700 clamp(2.25rem, 8vw, 4.5rem)/1.2 ui-monospace, "DejaVu Sans Mono", monospace;
      letter-spacing: .06em; max-width: none; }
    .qr-code { width: 13rem; height: 13rem; border-radius: .5rem; display: block; margin: 1rem auto; }
    .wide { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; margin: .75rem 0; }
    caption { text-align: left; color: var(--muted); padding: .25rem 0; }
    th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-top: 1px solid var(--line); }
    thead th { border-top: 0; color: var(--muted); font-weight: 600; }
    tbody th { font-weight: 600; }
    pre { background: var(--tint); border-radius: .5rem; padding: .75rem 1rem; white-space: pre-wrap;
      overflow-wrap: anywhere; }
    .chart { display: block; min-width: 52rem; width: 100%; }
    .chart text { fill: var(--text); font-size: 13px; text-anchor: middle; }
    .chart .row { text-anchor: start; font-weight: 600; }
    .chart .column { fill: var(--muted); }
    .axis { stroke: var(--line); }
    .series-1 { fill: var(--series-1); } .series-2 { fill: var(--series-2); }
    .series-3 { fill: var(--series-3); }
    @media (max-width: 72rem) { .columns { grid-template-columns: minmax(0, 1fr); gap: 1rem; }
      .menu ul { display: flex; flex-wrap: wrap; position: static; } .menu a { padding: .5rem .625rem; } }
    @media (max-width: 56rem) { .stack, .stack caption, .stack tbody, .stack tr, .stack th, .stack td,
        .stack td.actions { display: block; }
      .stack thead { position: absolute; clip-path: inset(50%); }
      .stack tr { border-top: 1px solid var(--line); padding: .75rem 0; }
      .stack th, .stack td { border: 0; padding: .125rem 0; }
      .stack td.actions { padding-top: .5rem; }
      .stack [data-label]::before { content: attr(data-label) ": "; content: attr(data-label) ": " / "";
        color: var(--muted); } }
    @media print { .bar, .menu, .actions, .no-print, button, .button { display: none; }
      .letter { break-after: page; border: 0; } .columns { display: block; } }
    """
}

/// The only script of the console: it asks the browser for a passkey and sends the form with the answer. All other
/// pages and steps work without scripts.
enum PasskeyScript {
  static let text = """
    "use strict";
    const bytes = (text) => Uint8Array.from(
      atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
    const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer ?? [])))
      .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    async function answers(form) {
      const { passkey, challenge, host, user, name, known, console: site } = form.dataset;
      const common = { challenge: bytes(challenge), timeout: 120000 };
      if (passkey === "get") {
        const { rawId, response } = await navigator.credentials.get({
          publicKey: { ...common, rpId: host, userVerification: "required" } });
        return { "id": rawId, "client-data": response.clientDataJSON, "signature": response.signature,
          "authenticator-data": response.authenticatorData, "user-handle": response.userHandle };
      }
      const { response } = await navigator.credentials.create({ publicKey: { ...common,
        rp: { id: host, name: site }, user: { id: bytes(user), name, displayName: name },
        pubKeyCredParams: [{ type: "public-key", alg: -7 }], attestation: "none",
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
        excludeCredentials: known.split(" ").filter(Boolean).map((id) => ({ type: "public-key", id: bytes(id) })) } });
      return { "client-data": response.clientDataJSON, "attestation": response.attestationObject };
    }
    for (const form of document.querySelectorAll("form[data-passkey]")) {
      if (!window.PublicKeyCredential || location.hostname !== form.dataset.host) continue;
      form.hidden = false;
      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        try {
          const fields = await answers(form);
          for (const [name, buffer] of Object.entries(fields)) form.elements[name].value = text(buffer);
          form.submit();
        } catch (error) {
          // The person has cancelled, or the browser has no passkey: the page stays as it is.
          if (error.name !== "NotAllowedError" && error.name !== "InvalidStateError") throw error;
        }
      });
    }
    """
}
