// SPDX-License-Identifier: Apache-2.0
import Foundation
import WebPages

/// The catalogue: every text of the class's pages, in English. `{name}` is replaced by a value.
///
/// `polish` is the table of the translations.
enum ClassText: String, CaseIterable, Sendable {
  // All pages.
  case languageCode = "en"
  case className = "Firebreak class"
  case skip = "Skip to the content"
  case offline =
    "Connection lost. Your place is kept: this page connects again by itself."
  case dayAndTime = "Day {day}, {time}"
  case phone = "Phone {number}"
  case backHome = "Go to the start page"
  case never = "never"

  // Joining.
  case joinTitle = "Join the class"
  case joinLead = """
    You get a phone in a simulated town. It has the real exposure notification engine: it \
    sends and receives random numbers, and tells you if you were near an infected person.
    """
  case joinPrivacy = """
    No name is asked for. Nothing on this page leaves this classroom, and your own phone's \
    Bluetooth is not used.
    """
  case joinButton = "Get a phone"
  case fullTitle = "This class is full"
  case fullText =
    "All {max} phones are taken. Look at a neighbour's phone, or ask the teacher to free one."
  case tryAgain = "Try again"
  case endedTitle = "Your phone is no longer in this class"
  case endedText =
    "It was given back, or the class has been started again. Join again to get a phone."
  case qrTitle = "Scan to join"
  case qrText =
    "Scan the code with the camera, or open this address in a browser of the same Wi-Fi:"
  case qrPicture = "QR code with the address {address}"
  case otherAddresses = "Other addresses of this machine:"

  // A pupil's phone.
  case noticeHeading = "Notices"
  case noNotice = "Your phone has no notice for you."
  case noticeLow = "You were briefly near someone who later tested positive. The risk is low."
  case noticeMedium =
    "You were near someone who later tested positive. The risk is moderate. Ask for a test."
  case noticeHigh = """
    You spent time close to someone who later tested positive. The risk is high. Ask for a \
    test, and stay at home.
    """
  case noticeAfterTest = """
    You were near someone who later tested positive. Your own test is positive already: stay at \
    home. You need no other test.
    """
  case noticePrivacy =
    "Your phone knows the day of the meeting, and neither the place nor the person."
  case bodyHeading = "Your health"
  case feelWell = "You feel well. You cannot know if you are infected."
  case feelIll = "You feel ill. Ask the teacher for a test."
  case feelIllTested = "You feel ill. Stay at home."
  case feelRecovered = "You were ill and have recovered."
  case testNegative = "Message of the health authority: your test is negative."
  case testPositive = """
    Message of the health authority: your test is positive. You stay at home from now on. With \
    this PIN you can warn the people you met:
    """
  case pinValid = "Valid until {time}."
  case shareHeading = "Warn others"
  case shareText = """
    After a positive test you get a PIN. Entering it shares the random keys of your phone's \
    last days, and nothing else. Other phones compare them with what they have received.
    """
  case pinLabel = "PIN of the health authority"
  case pinHint =
    "Six to ten letters and digits. Entering it means that you agree to share the keys."
  case shareButton = "Share my keys"
  case shareDone =
    "Your keys are shared. The people you met are warned without learning who you are."
  case shareNothing =
    "Your phone has no finished key yet. Enter the PIN again tomorrow: today's key is still in use."
  case shareRefused = "This PIN is not valid, or it has been used. Ask the teacher for a new test."
  case shareInvalid = "A PIN has six to ten letters and digits. Check your input."
  case shareLocked = "Too many wrong PINs. Wait for an hour of the class's clock, then try again."
  case shareFailed = "The upload failed: {reason}"
  case engineHeading = "What your phone knows"
  case powerState = "Power"
  case on = "On"
  case off = "Off: it sends and receives nothing"
  case received = "Scans in which it received others"
  case exposures = "Exposures that it has found"
  case lastCheck = "Last check for published keys"
  case checkFailed = "The last check failed. The phone tries again."
  case turnOff = "Switch the phone off"
  case turnOn = "Switch the phone on"
  case checkNow = "Check for keys now"
  case leaveHeading = "Leave the class"
  case leaveText =
    "Your phone goes back to the teacher. You cannot have the same one again for sure."
  case leaveButton = "Give the phone back"

  // The teacher's page.
  case teacherTitle = "Teacher"
  case clockHeading = "Clock"
  case running = "Time is passing…"
  case nextHour = "Next hour"
  case nextMorning = "Next morning"
  case startClock = "Let time pass"
  case stopClock = "Stop the clock"
  case infectOne = "Infect one person"
  case sheetLink = "Printable sheet"
  case nextStep = "Next step:"
  case stepJoin = "the class joins with the code below. Wait until everyone has a phone."
  case stepInfect = "infect one person. Only you see who it is."
  case stepWait = "let time pass. People feel ill 48 hours after their infection."
  case stepTest = "test those who feel ill. Phones: {numbers}."
  case stepShare = "those with a positive test enter the PIN on their pages. Phones: {numbers}."
  case stepPublish = """
    let hours pass. The keys are published, and each phone checks every four hours, or when its \
    owner says so.
    """
  case stepDiscuss = """
    compare who was notified with who was missed. Go on with the clock, or end with the printable \
    sheet.
    """
  case joinHeading = "Join"
  case joined = "Phones taken: {count} of {max}. Pages open: {connected}."
  case largeCode = "Show the code on the whole page"
  case summaryHeading = "Outbreak"
  case infectedCount = "Infected so far"
  case illCount = "Ill now"
  case diagnosedCount = "Diagnosed"
  case exposedCount =
    "Exposed: at least {minutes} minutes within {metres} metres of an infectious person"
  case notifiedCount = "Exposed and notified"
  case missedCount = "Exposed and not notified"
  case falseCount = "Notified without being exposed"
  case missedHeading = "Missed, and why"
  case noMissed = "Nobody is missed at the moment."
  case reason = "Reason"
  case people = "People"
  case mapHeading = "Map"
  case mapPicture = "Map of the town. The table of phones below has the same content."
  case mapText =
    "People at the same place can meet. At home after a positive test, or gone: {count}."
  case legendWell = "circle: well or recovered"
  case legendInfected = "triangle: infected or infectious"
  case legendIll = "square: ill"
  case legendNotified = "ring: notified"
  case curveHeading = "Curve"
  case curvePicture = """
    Curve of the outbreak. At the end: {infected} infected so far, {diagnosed} diagnosed, \
    {notified} notified.
    """
  case curveText = "Number of people, by day."
  case curveInfected = "infected so far (solid)"
  case curveDiagnosed = "diagnosed (dashed)"
  case curveNotified = "notified (dotted)"
  case phonesHeading = "Phones"
  case noPhones = "Nobody has joined yet."
  case columnPhone = "Phone"
  case columnHealth = "Health"
  case columnNotice = "Notice"
  case columnState = "State"
  case columnTest = "Tests"
  case testButton = "Test"
  case testAgain = "Test again"
  case freeButton = "Free"
  /// The name of a button for screen readers, which begins with its visible text.
  case buttonOfPhone = "{button}: phone {number}"
  case stateOff = "off"
  case stateFree = "given back"
  case stateClosed = "page closed"
  case stateOpen = "on"
  case healthWell = "well"
  case healthInfected = "infected"
  case healthInfectious = "infectious"
  case healthIll = "ill"
  case healthRecovered = "recovered"
  case outcomeNotExposed = "not exposed"
  case outcomeNotified = "notified"
  case outcomeFalse = "notified without being exposed: {reason}"
  case outcomeMissed = "missed: {reason}"
  case testedNegative = "negative"
  case testedPositive = "positive, PIN not entered"
  case testedShared = "positive, keys shared"

  // Reasons.
  case reasonPhoneOff = "one of the two phones was off"
  case reasonNotDiagnosed = "the infectious person has not been tested"
  case reasonPINNotEntered = "the diagnosed person has not entered the PIN"
  case reasonKeyInUse = "they met on the day of the upload: that day's key is not shared"
  case reasonNotPublished = "the keys are not published yet"
  case reasonNotChecked = "the phone has not downloaded the keys yet"
  case reasonBelowThreshold = "too short or too far, by the risk configuration"
  case reasonBeforeInfectious = "they met before the diagnosed person was infectious"
  case reasonOverestimated = """
    the meeting was too short or too far, and the phones measured it as longer or closer
    """

  // News and refusals.
  case newsInfection = "The person of phone {number} is infected, and does not know it."
  case newsNegative = "The test of phone {number} is negative."
  case newsPositive = "The test of phone {number} is positive. The PIN is on that phone's page."
  case newsUploaded = "Phone {number} has shared its keys."
  case newsUploadFailed = "Phone {number} could not share its keys; its page says why."
  case newsFreed = "Phone {number} is free. The next browser that joins gets it."
  case refusedLesson = "The lesson has reached its last day. Print the sheet."
  case refusedPhone = "There is no such phone."
  case refusedOff = "The phone is off: switch it on first."
  case refusedInfected = "Everyone has been infected already, or nobody has joined."
  case refusedFailed = "That failed: {reason}"

  // Requests that are refused.
  case wrongHostTitle = "Wrong address"
  case wrongHostText = "This class answers at these addresses only:"
  case otherSiteTitle = "Not allowed"
  case otherSiteText = "The request came from another site. Open this class's own page."
  case noTeacherTitle = "For the teacher"
  case noTeacherText = """
    Open the teacher's address that was printed when the class was started: it contains the \
    secret of the class.
    """
  case notFoundTitle = "Not found"
  case notFoundText = "There is no such page. Check the address."
  case tooLargeTitle = "Too large"
  case tooLargeText = "The form is too large. Go back and try again."

  // The printable sheet.
  case sheetTitle = "The outbreak in our class"
  case sheetLead = """
    Phones: {phones}. Simulated days: {days}. Every phone used the real exposure notification \
    engine, and the health authority's servers were real as well.
    """
  case sheetNumbers = "Numbers"
  case sheetWhy = "Why people were missed"
  case sheetExposed = "Exposed people"
  case sheetNobody = "Nobody was exposed."
  case sheetQuestions = "Questions"
  case question1 = "Which reason for a missing notice was the most frequent? What would change it?"
  case question2 =
    "Who learned that a person was infected: the other phones, the servers, the teacher?"
  case question3 = "Why is the key of the present day not shared, and what does that cost?"
  case question4 = "Some were notified without being exposed. Is that an error of the app?"
  case question5 = "How would the curve look if every notified person stayed at home?"
  case print = "Print"
  case backToTeacher = "Back to the teacher's page"
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
      values.reduce(text.text(in: language)) {
        $0.replacingOccurrences(of: "{\($1.key)}", with: $1.value.text(in: language))
      }
    }
  }
}

extension ClassText {
  /// The text with its values, before a language is chosen.
  func with(_ values: [String: ClassPhrase] = [:]) -> ClassPhrase { .text(self, values) }

  /// The text in a language, without values.
  func text(in language: ClassLanguage) -> String {
    switch language {
    case .english: rawValue
    case .polish: Self.polish[self] ?? rawValue
    }
  }
}
