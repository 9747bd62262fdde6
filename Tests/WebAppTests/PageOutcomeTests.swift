// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension BrowserSuite {
  @Suite("What pages say about the end of an action")
  struct PageOutcomeTests {
    @Test(
      "The result page shows the last upload, also after a failure on the same page",
      .timeLimit(.minutes(Patience.minutes)))
    func latestResult() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          try await scene.settle(browser)
          for (reason, later) in [("pinRefused", 1.0), ("noInternet", 1), ("stopped", 4)] {
            try await browser.script(
              """
              return import('/app/parts/share-draft.js').then(({ draft }) => {
                draft.result = { result: 2, reason: arguments[0] };
                return true;
              });
              """, .string(reason))
            try await browser.go("/share/result", to: "share-result")
            #expect(try await browser.count("[data-reason=\(reason)]") == 1)
            try await browser.go("/about", to: "about")
            // A command has shared the keys, or failed in another way.
            try await browser.script(
              """
              return import('/app/store.js').then(({ store }) => {
                store.state = { ...store.state, lastUpload: { result: arguments[0], reason: null } };
                return true;
              });
              """, .number(later))
            try await browser.go("/", to: "home")
            try await browser.act("upload-result", to: "share-result")
            #expect(try await browser.count("[data-result=\"\(Int(later))\"]") == 1)
            // The phone forgets a result that was shown, and the page does not.
            try await browser.wait(
              until: "import('/app/store.js')"
                + ".then(m => m.refreshState().then(() => !m.store.state.lastUpload))")
            #expect(try await browser.count("[data-result=\"\(Int(later))\"]") == 1)
            try await browser.go("/", to: "home")
          }
        }
      }
    }

    @Test(
      "A dead switch, a failed report of travel and a paused check are told in the page's language",
      .timeLimit(.minutes(Patience.minutes)))
    func failures() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          try await browser.message(1010, ["language": "uk"])
          try await browser.wait(
            until: "document.documentElement.lang === 'uk'"
              + " && !document.getElementById('main').hasAttribute('aria-busy')")
          try await browser.breakMessages()
          let failure = try await browser.catalogueText("failure.message")
          try await browser.go("/settings", to: "settings")
          try await browser.type("DE", into: "#travel-region")
          try await browser.act("travel")
          try await browser.waitForFailure(failure)
          try await browser.go("/about", to: "about")
          try await browser.go("/settings", to: "settings")
          try await browser.click("main #toggle-exposure-notifications")
          try await browser.waitForFailure(failure)
          try await browser.wait(
            until: "document.getElementById('toggle-exposure-notifications').checked")
          try await browser.go("/", to: "home")
          try await browser.act("check-now")
          let paused = try await browser.catalogueText("problem.paused.title")
          try await browser.wait(
            until: "document.getElementById('announcements').textContent === a[0]", .string(paused))
        }
      }
    }
  }
}

extension Browser {
  /// Breaks messages of the page: 1009 fails, and 52 has no effect. A check, 1005, ends as during a pause.
  fileprivate func breakMessages() async throws {
    try await script(
      """
      const original = window.fetch;
      const answer = (value) => new Response(JSON.stringify({ body: JSON.stringify(value) }));
      window.fetch = async (url, options) => {
        const { type } = String(url).endsWith('/messages') ? JSON.parse(options.body) : {};
        if (type === 1009) return answer({ error: { code: 'failed', message: 'The disk is full.' } });
        if (type === 52) return answer(null);
        if (type === 1005) window.isPaused = true;
        const response = await original(url, options);
        if (type !== 1000 || !window.isPaused) return response;
        const { body } = await response.json();
        return answer({ ...JSON.parse(body), paused: true });
      };
      return true;
      """)
  }

  /// Waits until the screen says that an action failed.
  fileprivate func waitForFailure(_ text: String) async throws {
    try await wait(
      until: "document.querySelector('main .message-failure')?.textContent === a[0]",
      .string(text))
  }

  /// A text of the catalogue of the page.
  fileprivate func catalogueText(_ key: String) async throws -> String {
    let text: JSONValue = try await script(
      "return import('/app/texts.js').then(({ t }) => t(arguments[0]));", .string(key))
    return text.string ?? ""
  }
}
