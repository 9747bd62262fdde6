import Foundation

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
