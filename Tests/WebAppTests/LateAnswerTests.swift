// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension BrowserSuite {
  @Suite("Checks and uploads that take longer than the bridge waits for their answers")
  struct LateAnswerTests {
    @Test(
      "A check whose answer is late goes on: the page says so, and shows the result when it comes, twice",
      .timeLimit(.minutes(Patience.minutes)))
    func check() async throws {
      let scene = try await WebAppScene()
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          // Afterwards the phone starts no check by itself.
          #expect(try await scene.phone.check().status == .done)
          try await browser.controlLongTimers()
          for isExposed in [false, true] {
            if isExposed { try await scene.meetInfectedPhone() }
            // The time of a check is in seconds.
            try await browser.wait(
              until: "import('/app/store.js').then(m => m.now() > m.store.state.lastCheck + 1)")
            try await checkLate(scene, browser)
            #expect(try await browser.count("[data-risk=\"0\"]") == (isExposed ? 0 : 1))
          }
        }
      }
    }

    private func checkLate(_ scene: WebAppScene, _ browser: Browser) async throws {
      scene.network.hold()
      try await browser.act("check-now")
      try await Patience.until { scene.network.heldCount > 0 }
      try await browser.wait(until: "document.querySelector('[data-part=check-goes-on]')")
      try await browser.endLongTimers()
      try await browser.wait(
        until: "document.getElementById('announcements').textContent"
          + " === document.querySelector('[data-part=check-goes-on]')?.textContent")
      // The phone answers other messages meanwhile.
      #expect(try await browser.message(1000)["checking"] == true)
      #expect(try await browser.count(".message-failure") == 0)
      #expect(try await browser.count("[data-banner=offline]") == 0)
      scene.network.release()
      try await browser.wait(
        until: "document.getElementById('announcements').textContent === 'The check is complete.'")
      #expect(try await browser.count("[data-part=check-goes-on]") == 0)
      #expect(try await browser.count(".message-failure, [data-problem=check]") == 0)
    }

    @Test(
      "A developer action whose answer is late does not show that the phone is away",
      .timeLimit(.minutes(Patience.minutes)))
    func developerAction() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          // Afterwards the phone starts no check by itself.
          #expect(try await scene.phone.check().status == .done)
          try await browser.open(phone, at: "/developer", expecting: "developer")
          try await browser.controlLongTimers()
          try await browser.noteOffline()
          scene.network.hold()
          try await browser.act("developer-detectNow")
          try await Patience.until { scene.network.heldCount > 0 }
          try await browser.endLongTimers()
          try await browser.wait(
            until: "document.querySelector('[data-part=output]').textContent !== ''")
          #expect(try await browser.count("[data-was-offline]") == 0)
          scene.network.release()
        }
      }
    }

    @Test(
      "An upload whose answer is late stays on the page of its progress until it has ended",
      .timeLimit(.minutes(Patience.minutes)))
    func upload() async throws {
      let scene = try await WebAppScene(daysOfUse: 3)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          try await browser.controlLongTimers()
          scene.network.set(.silent)
          try await browser.enter(try await scene.authority.pin(), date: "none")
          try await browser.act("agree", to: "share-review")
          try await browser.act("send", to: "share-progress")
          try await browser.wait(until: "document.querySelector('[data-stage=sending]')")
          try await browser.endLongTimers()
          // The page has handled the late answer once it has asked for the state.
          try await browser.wait(until: "window.stateRequests > 0")
          try await browser.wait(until: "document.querySelector('[data-stage=sending]')")
          #expect(try await browser.count("[data-banner=offline]") == 0)
          scene.network.set(.closing)
          try await browser.waitForScreen("share-result")
          #expect(try await browser.count("[data-reason=noInternet]") == 1)
        }
      }
    }
  }
}

extension Browser {
  /// From now on the time of the bridge's long requests passes only with `endLongTimers()`.
  fileprivate func controlLongTimers() async throws {
    try await script(
      """
      const [original, send] = [window.setTimeout, window.fetch];
      window.longTimers = [];
      window.setTimeout = (run, delay, ...values) => delay === arguments[0]
        ? (window.longTimers.push(run), 0) : original(run, delay, ...values);
      window.fetch = (url, options) => {
        if (/"type":1000\\b/.test(options?.body ?? '')) window.stateRequests += 1;
        return send(url, options);
      };
      return true;
      """, .number(300_000))
  }

  /// Marks the page from the first moment on in which it says that the phone is away.
  fileprivate func noteOffline() async throws {
    try await script(
      """
      new MutationObserver(() => {
        if (document.querySelector('[data-banner=offline]')) document.body.dataset.wasOffline = '';
      }).observe(document, { childList: true, subtree: true });
      return true;
      """)
  }

  /// Lets the time of all long requests pass.
  fileprivate func endLongTimers() async throws {
    try await script(
      """
      window.stateRequests = 0;
      for (const run of window.longTimers.splice(0)) run();
      return true;
      """)
  }
}
