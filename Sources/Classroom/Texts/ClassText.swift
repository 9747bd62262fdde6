// SPDX-License-Identifier: Apache-2.0
import TextEncodings
import WebPages

/// The texts of the class's pages, by their keys in the catalogues. `{name}` in a text is replaced by a value.
enum ClassText: String, CaseIterable, Sendable {
  // All pages.
  case languageCode, className, skip, offline, dayAndTime, phone, backHome, never

  // Joining.
  case joinTitle, joinLead, joinPrivacy, joinButton, fullTitle, fullText, tryAgain, endedTitle,
    endedText, qrTitle, qrText, qrPicture, otherAddresses

  // A pupil's phone.
  case noticeHeading, noNotice, noticeLow, noticeMedium, noticeHigh, noticeAfterTest,
    noticePrivacy, bodyHeading, feelWell, feelIll, feelIllTested, feelRecovered, testNegative,
    testPositive, pinValid, shareHeading, shareText, pinLabel, pinHint, shareButton, shareDone,
    shareNothing, shareRefused, shareInvalid, shareLocked, shareFailed, engineHeading, powerState,
    on, off, received, exposures, lastCheck, checkFailed, turnOff, turnOn, checkNow, leaveHeading,
    leaveText, leaveButton

  // The teacher's page.
  case teacherTitle, clockHeading, running, nextHour, nextMorning, startClock, stopClock,
    infectOne, sheetLink, nextStep, stepJoin, stepInfect, stepWait, stepTest, stepShare,
    stepPublish, stepDiscuss, joinHeading, joined, largeCode, summaryHeading, infectedCount,
    illCount, diagnosedCount, exposedCount, notifiedCount, missedCount, falseCount, missedHeading,
    noMissed, reason, people, mapHeading, mapPicture, mapText, legendWell, legendInfected,
    legendIll, legendNotified, curveHeading, curvePicture, curveText, curveInfected,
    curveDiagnosed, curveNotified, phonesHeading, noPhones, columnPhone, columnHealth,
    columnNotice, columnState, columnTest, testButton, testAgain, freeButton

  /// The name of a button for screen readers, which begins with its visible text.
  case buttonOfPhone
  case stateOff, stateFree, stateClosed, stateOpen, healthWell, healthInfected,
    healthInfectious, healthIll, healthRecovered, outcomeNotExposed, outcomeNotified,
    outcomeFalse, outcomeMissed, testedNegative, testedPositive, testedShared

  // Reasons.
  case reasonPhoneOff, reasonNotDiagnosed, reasonPINNotEntered, reasonKeyInUse,
    reasonNotPublished, reasonNotChecked, reasonBelowThreshold, reasonBeforeInfectious,
    reasonOverestimated

  // News and refusals.
  case newsInfection, newsNegative, newsPositive, newsUploaded, newsUploadFailed, newsFreed,
    refusedLesson, refusedPhone, refusedOff, refusedInfected, refusedFailed

  // Requests that are refused.
  case wrongHostTitle, wrongHostText, otherSiteTitle, otherSiteText, noTeacherTitle,
    noTeacherText, notFoundTitle, notFoundText, tooLargeTitle, tooLargeText

  // The printable sheet.
  case sheetTitle, sheetLead, sheetNumbers, sheetWhy, sheetExposed, sheetNobody, sheetQuestions,
    question1, question2, question3, question4, question5, print, backToTeacher

  /// The catalogues that are installed beside the program, read once.
  static let catalogues: [ClassLanguage: TextCatalogue] = TextCatalogue.installed(of: target)

  /// The path of a catalogue that is not installed; nil if all are.
  static var missingCatalogue: String? { TextCatalogue.missing(in: catalogues, of: target) }

  private static let target = "Classroom"
}

/// A language of the class's pages.
enum ClassLanguage: String, PageLanguage {
  case english = "en"
  case polish = "pl"

  static let standard = ClassLanguage.english
}

/// A text with its values, before a language is chosen.
indirect enum ClassPhrase: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The same in every language: a number, an address, a PIN.
  case verbatim(String)
  /// A text of the catalogue. `{name}` in it is replaced by the value of that name.
  case text(ClassText, [String: ClassPhrase])

  init(stringLiteral text: String) { self = .verbatim(text) }

  init(_ number: Int) { self = .verbatim("\(number)") }

  /// The text in a language.
  func text(in language: ClassLanguage) -> String {
    switch self {
    case .verbatim(let text): text
    case .text(let text, let values):
      text.text(in: language).filling(named: values.mapValues { $0.text(in: language) })
    }
  }
}

extension ClassText {
  /// The text with its values, before a language is chosen.
  func with(_ values: [String: ClassPhrase] = [:]) -> ClassPhrase { .text(self, values) }

  /// The text in a language, without values; its key if the catalogue is not installed.
  func text(in language: ClassLanguage) -> String {
    Self.catalogues[language]?.texts[rawValue] ?? rawValue
  }
}
