// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The teacher's page: the clock, the truth about the outbreak, and the phones.
enum TeacherPage {
  static func page(_ state: LessonState, address: String) -> HTML {
    PageLayout.document(
      ClassText.teacherTitle.with(), kind: "teacher", isLive: true,
      content: """
        <header><h1>\(ClassText.className)</h1></header>
        <section aria-labelledby="clock-heading"><h2 id="clock-heading">\(ClassText.clockHeading)</h2>
        \(PageLayout.live("clock", clock(state)))
        \(PageLayout.live("step", "<p>\(ClassText.nextStep) \(step(state.nextStep))</p>"))
        \(PageLayout.live("news", news(state), isNews: true))</section>
        <div class="columns">
        <section aria-labelledby="join-heading"><h2 id="join-heading">\(ClassText.joinHeading)</h2>
        <div class="join">\(JoinPages.picture(of: address))<div>
        <p><code>\(address)</code></p>
        \(PageLayout.live("joined", joined(state)))
        <p><a href="/code">\(ClassText.largeCode)</a></p></div></div></section>
        <section aria-labelledby="summary-heading">\
        <h2 id="summary-heading">\(ClassText.summaryHeading)</h2>
        \(PageLayout.live("summary", OutbreakTables.summary(state)))</section>
        <div><section aria-labelledby="missed-heading">\
        <h2 id="missed-heading">\(ClassText.missedHeading)</h2>
        \(PageLayout.live("missed", OutbreakTables.missed(state)))</section>
        <section aria-labelledby="curve-heading"><h2 id="curve-heading">\(ClassText.curveHeading)</h2>
        \(PageLayout.live("curve", OutbreakPictures.curve(state)))</section></div>
        <section aria-labelledby="map-heading"><h2 id="map-heading">\(ClassText.mapHeading)</h2>
        \(PageLayout.live("map", OutbreakPictures.map(state)))</section>
        </div>
        <section aria-labelledby="phones-heading">\
        <h2 id="phones-heading">\(ClassText.phonesHeading)</h2>
        <div class="scroll" role="region" aria-labelledby="phones-heading" tabindex="0">\
        \(PageLayout.live("phones", phones(state)))</div></section>
        """)
  }

  private static func clock(_ state: LessonState) -> HTML {
    let running: HTML =
      state.isRunning ? " <span class=\"hint\">\(ClassText.running)</span>" : .none
    return """
      <p class="time">\(PageLayout.time(state.now, in: state))\(running)</p>
      <div class="buttons">
      \(PageLayout.button(.nextHour, action: "/teacher/hour", id: "hour"))
      \(PageLayout.button(.nextMorning, action: "/teacher/morning", id: "morning"))
      \(PageLayout.button(
        state.isAutomatic ? .stopClock : .startClock, action: "/teacher/clock",
        values: ["on": state.isAutomatic ? "no" : "yes"], id: "clock-button"))
      \(PageLayout.button(.infectOne, action: "/teacher/infect", id: "infect", isQuiet: true))
      <p><a href="/teacher/sheet">\(ClassText.sheetLink)</a></p>
      </div>
      """
  }

  private static func step(_ step: NextStep) -> ClassPhrase {
    func numbers(_ phones: [Int]) -> [String: ClassPhrase] {
      ["numbers": .verbatim(phones.map(String.init).joined(separator: ", "))]
    }
    return switch step {
    case .join: ClassText.stepJoin.with()
    case .infect: ClassText.stepInfect.with()
    case .wait: ClassText.stepWait.with()
    case .test(let phones): ClassText.stepTest.with(numbers(phones))
    case .share(let phones): ClassText.stepShare.with(numbers(phones))
    case .publish: ClassText.stepPublish.with()
    case .discuss: ClassText.stepDiscuss.with()
    }
  }

  private static func joined(_ state: LessonState) -> HTML {
    let taken = state.phones.count { !$0.isFree }
    return """
      <p>\(.joined, [
        "count": ClassPhrase(taken), "max": ClassPhrase(state.phonesMax),
        "connected": ClassPhrase(state.phones.count(where: \.isConnected)),
      ])</p>
      """
  }

  static func news(_ state: LessonState) -> HTML {
    guard let news = state.news else { return .none }
    func text(_ text: ClassText, _ number: Int) -> HTML {
      "<p class=\"message\">\(text, ["number": ClassPhrase(number)])</p>"
    }
    switch news {
    case .infectionStarted(let number): return text(.newsInfection, number)
    case .testNegative(let number): return text(.newsNegative, number)
    case .testPositive(let number): return text(.newsPositive, number)
    case .uploaded(let number): return text(.newsUploaded, number)
    case .uploadFailed(let number): return text(.newsUploadFailed, number)
    case .freed(let number): return text(.newsFreed, number)
    case .refused(let refusal): return "<p class=\"message\">\(self.text(of: refusal))</p>"
    }
  }

  /// The message for a refusal.
  static func text(of refusal: LessonRefusal) -> ClassPhrase {
    switch refusal {
    case .classIsFull: ClassText.fullTitle.with()
    case .lessonIsOver: ClassText.refusedLesson.with()
    case .unknownPhone: ClassText.refusedPhone.with()
    case .phoneIsOff: ClassText.refusedOff.with()
    case .allInfected: ClassText.refusedInfected.with()
    case .failed(let reason): ClassText.refusedFailed.with(["reason": .verbatim(reason)])
    }
  }

  /// A button of one phone, with the number in its name.
  private static func button(_ text: ClassText, _ action: String, _ number: Int) -> HTML {
    PageLayout.button(
      text, action: "/teacher/\(action)", values: ["phone": "\(number)"],
      id: "\(action)-\(number)",
      label: ClassText.buttonOfPhone.with(["button": text.with(), "number": ClassPhrase(number)]),
      isQuiet: true)
  }

  /// The state of a phone. A phone whose page is closed can be freed for another browser.
  private static func condition(_ phone: PhoneView) -> HTML {
    let condition = OutbreakTables.condition(phone)
    guard !phone.isFree, !phone.isConnected else { return "\(condition)" }
    let button = button(.freeButton, "free", phone.number)
    return "\(condition) \(button)"
  }

  private static func phones(_ state: LessonState) -> HTML {
    guard !state.phones.isEmpty else { return "<p>\(ClassText.noPhones)</p>" }
    let rows = state.phones.map { phone -> HTML in
      let number = "\(phone.number)"
      return """
        <tr data-phone="\(number)"><th scope="row">\(number)</th><td>\(OutbreakTables.health(phone.health))</td>\
        <td>\(OutbreakTables.outcome(phone.outcome))</td><td>\(condition(phone))</td>\
        <td>\(OutbreakTables.test(phone)) \
        \(button(phone.test == nil ? .testButton : .testAgain, "test", phone.number))</td></tr>
        """
    }
    return """
      <table>
      <thead><tr><th scope="col">\(ClassText.columnPhone)</th>\
      <th scope="col">\(ClassText.columnHealth)</th><th scope="col">\(ClassText.columnNotice)</th>\
      <th scope="col">\(ClassText.columnState)</th><th scope="col">\(ClassText.columnTest)</th></tr>\
      </thead><tbody>\(rows)</tbody></table>
      """
  }
}

/// The sheet that ends a lesson: numbers, reasons and questions, made for paper.
enum PrintPage {
  static func page(_ state: LessonState) -> HTML {
    let values = [
      "phones": ClassPhrase(state.phones.count), "days": ClassPhrase(state.day(of: state.now)),
    ]
    return PageLayout.document(
      ClassText.sheetTitle.with(), kind: "sheet",
      content: """
        <h1>\(ClassText.sheetTitle)</h1>
        <p>\(.sheetLead, values)</p>
        <div class="screen buttons"><button id="print" class="main" hidden>\(ClassText.print)</button>
        <p><a href="/teacher">\(ClassText.backToTeacher)</a></p></div>
        <script src="/print.js"></script>
        <section><h2>\(ClassText.sheetNumbers)</h2>\(OutbreakTables.summary(state))</section>
        <section><h2>\(ClassText.sheetWhy)</h2>\(OutbreakTables.missed(state))</section>
        <section><h2>\(ClassText.curveHeading)</h2>\(OutbreakPictures.curve(state))</section>
        <section><h2 id="exposed-heading">\(ClassText.sheetExposed)</h2>\(exposed(state))</section>
        <section><h2>\(ClassText.sheetQuestions)</h2>\(questions)</section>
        """)
  }

  private static func exposed(_ state: LessonState) -> HTML {
    let phones = state.phones.filter { $0.outcome != .notExposed }
    guard !phones.isEmpty else { return "<p>\(ClassText.sheetNobody)</p>" }
    let rows = phones.map { phone -> HTML in
      """
      <tr data-phone="\(phone.number)"><th scope="row">\(phone.number)</th>\
      <td>\(OutbreakTables.health(phone.health))</td>\
      <td>\(OutbreakTables.outcome(phone.outcome))</td></tr>
      """
    }
    return """
      <div class="scroll" role="region" aria-labelledby="exposed-heading" tabindex="0">
      <table><thead><tr><th scope="col">\(ClassText.columnPhone)</th>\
      <th scope="col">\(ClassText.columnHealth)</th><th scope="col">\(ClassText.columnNotice)</th></tr>\
      </thead><tbody>\(rows)</tbody></table></div>
      """
  }

  private static var questions: HTML {
    let questions: [ClassText] = [.question1, .question2, .question3, .question4, .question5]
    let items = questions.map { question -> HTML in
      "<li>\(question)<div class=\"lines\" aria-hidden=\"true\"></div></li>"
    }
    return "<ol>\(items)</ol>"
  }
}
