// SPDX-License-Identifier: Apache-2.0
import Browser
import TestSupport
import Testing
import TextEncodings

extension DemonstrationSuite {
  /// The pages of a class are drawn again when the lesson changes.
  @Suite("Changes of a lesson while a button of the mouse is pressed") struct ClassPressTests {
    private static let time = "document.querySelector('#clock .time').textContent"

    @Test(
      "A button of the teacher that was pressed before an hour passed is clicked",
      .timeLimit(.minutes(Patience.minutes)))
    func infect() async throws {
      try await RunningClass.with(size: 2) { room in
        try await Browser.withRunning { browser in
          try await browser.join(room, as: 1)
          try await browser.open(room.teacher)
          try await browser.waitForStream()
          let before = try await browser.script("return \(Self.time)")
          try await browser.send(.pressed, button: "left", to: "#infect")
          try await browser.script(
            "fetch('/teacher/hour', { method: 'POST', body: new URLSearchParams() })")
          try await browser.wait(until: Self.isLater, before)
          #expect(try await browser.script("return \(Self.time)") == before)
          try await browser.send(.released, button: "left", to: "#infect")
          let news = "document.querySelector('#news').textContent.includes(a[0])"
          try await browser.wait(until: news, "person of phone 1 is infected")
          try await browser.wait(until: "\(Self.time) !== a[0]", before)
          #expect(try await browser.errorLog() == [])
          try await drawAfterFault(in: browser)
        }
      }
    }

    /// A part that cannot be drawn after the release is reported, and the other one is drawn.
    private func drawAfterFault(in browser: Browser) async throws {
      try await browser.script(
        """
        return import('/pointer-guard.js').then(({ drawUnpressed }) => {
          dispatchEvent(new PointerEvent('pointerdown', { button: 0 }));
          drawUnpressed('first', () => { throw new Error('The first part'); });
          drawUnpressed('second', () => { document.body.dataset.drawn = 'second'; });
          dispatchEvent(new PointerEvent('pointerup', { button: 0 }));
        });
        """)
      try await browser.wait(until: "document.body.dataset.drawn === 'second'")
      let errors = try await browser.errorLog()
      #expect(errors.count == 1 && errors[0].contains("The first part"), "\(errors)")
    }

    /// True once the page of the server has another time than `a[0]`, which stands still.
    private static let isLater = """
      fetch('/teacher').then(response => response.text())
        .then(html => new DOMParser().parseFromString(html, 'text/html').querySelector('#clock'))
        .then(clock => !clock.querySelector('.hint')
          && clock.querySelector('.time').textContent !== a[0])
      """
  }
}
