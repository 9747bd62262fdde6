// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import UserNotifications

@Suite("Contents, sounds, actions and categories as objects")
struct UNNotificationContentTests {
  private final class Provider: NSObject, UNNotificationContentProviding {}

  /// A content with a value in every property.
  static func full() -> UNMutableNotificationContent {
    let content = UNMutableNotificationContent()
    content.title = "Title"
    content.subtitle = "Subtitle"
    content.body = "Body"
    content.badge = 3
    content.sound = .criticalSoundNamed(UNNotificationSoundName("bell"), withAudioVolume: 0.5)
    content.categoryIdentifier = "reminder"
    content.threadIdentifier = "exposures"
    content.userInfo = ["page": "result", "count": 2]
    content.launchImageName = "Launch"
    content.summaryArgument = "office"
    content.summaryArgumentCount = 2
    content.targetContentIdentifier = "result"
    content.interruptionLevel = .timeSensitive
    content.relevanceScore = 0.8
    content.filterCriteria = "health"
    return content
  }

  @Test("An empty content has Apple's defaults")
  func defaults() {
    let content = UNNotificationContent()
    #expect(content.title.isEmpty && content.subtitle.isEmpty && content.body.isEmpty)
    #expect(content.badge == nil && content.sound == nil && content.attachments.isEmpty)
    #expect(content.categoryIdentifier.isEmpty && content.threadIdentifier.isEmpty)
    #expect(content.userInfo.isEmpty && content.launchImageName.isEmpty)
    #expect(content.summaryArgument.isEmpty && content.summaryArgumentCount == 1)
    #expect(content.targetContentIdentifier == nil && content.filterCriteria == nil)
    #expect(content.interruptionLevel == .active && content.relevanceScore == 0)
  }

  @Test("A request keeps the content of its creation")
  func requestCopies() {
    let content = Self.full()
    let request = UNNotificationRequest(identifier: "a", content: content, trigger: nil)
    content.title = "Changed"
    #expect(request.content.title == "Title")
    #expect((request.content as? UNMutableNotificationContent) == nil)
  }

  @Test("A copy cannot be changed, a mutable copy can, and both have all values")
  func copies() throws {
    let content = Self.full()
    let copy = try #require(content.copy() as? UNNotificationContent)
    #expect((copy as? UNMutableNotificationContent) == nil && copy == content)
    let mutable = try #require(copy.mutableCopy() as? UNMutableNotificationContent)
    #expect(mutable == content && mutable.hash == content.hash)
    mutable.userInfo["page"] = "start"
    #expect(mutable != content && copy == content)
  }

  @Test("Contents that differ in any property are not equal")
  func differences() {
    let changes: [(UNMutableNotificationContent) -> Void] = [
      { $0.title = "" }, { $0.subtitle = "" }, { $0.body = "" }, { $0.badge = nil },
      { $0.sound = .default }, { $0.categoryIdentifier = "" }, { $0.threadIdentifier = "" },
      { $0.userInfo = [:] }, { $0.launchImageName = "" }, { $0.summaryArgument = "" },
      { $0.summaryArgumentCount = 1 }, { $0.targetContentIdentifier = nil },
      { $0.interruptionLevel = .active }, { $0.relevanceScore = 0 }, { $0.filterCriteria = nil },
    ]
    for (index, change) in changes.enumerated() {
      let content = Self.full()
      change(content)
      #expect(content != Self.full(), "change \(index)")
    }
  }

  @Test("No object of an app provides the values of a content")
  func providing() {
    #expect(throws: UNError(.contentProvidingObjectNotAllowed)) {
      try UNNotificationContent().updating(from: Provider())
    }
  }

  @Test("Sounds are equal if they play the same file in the same way")
  func sounds() {
    let name = UNNotificationSoundName("bell")
    #expect(UNNotificationSoundName(rawValue: "bell") == name && name.rawValue == "bell")
    let sounds: [UNNotificationSound] = [
      .default, .defaultCritical, .defaultRingtone, .defaultCriticalSound(withAudioVolume: 0.5),
      UNNotificationSound(named: name), .ringtoneSoundNamed(name), .criticalSoundNamed(name),
      .criticalSoundNamed(name, withAudioVolume: 0.5),
    ]
    #expect(Set(sounds).count == sounds.count)
    #expect(UNNotificationSound.default == .default)
    #expect(UNNotificationSound.criticalSoundNamed(name) == .criticalSoundNamed(name))
    #expect(UNNotificationSound.defaultCriticalSound(withAudioVolume: 1) != .defaultCritical)
  }

  @Test("Actions and categories are equal by their values, and sets contain them once")
  func actionsAndCategories() {
    func action(_ title: String, icon: UNNotificationActionIcon? = nil) -> UNNotificationAction {
      UNNotificationAction(identifier: "later", title: title, options: .foreground, icon: icon)
    }
    let reply = UNTextInputNotificationAction(
      identifier: "later", title: "Later", options: .foreground, textInputButtonTitle: "Send",
      textInputPlaceholder: "Text")
    #expect(action("Later") == action("Later") && action("Later") != action("Now"))
    #expect(action("Later") != reply && reply.textInputPlaceholder == "Text")
    let eye = UNNotificationActionIcon(systemImageName: "eye")
    #expect(action("Later", icon: eye) != action("Later"))
    #expect(eye == UNNotificationActionIcon(templateImageName: "eye"))
    func category(_ summary: String?) -> UNNotificationCategory {
      UNNotificationCategory(
        identifier: "reminder", actions: [action("Later")], intentIdentifiers: [],
        hiddenPreviewsBodyPlaceholder: nil, categorySummaryFormat: summary)
    }
    #expect(Set([category("%u"), category("%u"), category(nil)]).count == 2)
    #expect(category(nil).hiddenPreviewsBodyPlaceholder.isEmpty)
    let plain = UNNotificationCategory(
      identifier: "reminder", actions: [action("Later")], intentIdentifiers: [])
    #expect(plain == category(nil))
  }

  @Test("Triggers are equal by class, value and repetition")
  func triggers() {
    func interval(_ seconds: Double, repeats: Bool = false) -> UNNotificationTrigger {
      UNTimeIntervalNotificationTrigger(timeInterval: seconds, repeats: repeats)
    }
    #expect(interval(60) == interval(60) && interval(60) != interval(61))
    #expect(interval(60) != interval(60, repeats: true))
    let daily = UNCalendarNotificationTrigger(
      dateMatching: DateComponents(hour: 8), repeats: false)
    #expect(interval(60) != daily && daily.copy() as? UNNotificationTrigger === daily)
  }

  @Test("Errors keep their values, and describe themselves without any")
  func errors() {
    let error = UNError(.badgeInputInvalid, userInfo: [NSLocalizedFailureReasonErrorKey: "-1"])
    #expect(error.userInfo[NSLocalizedFailureReasonErrorKey] as? String == "-1")
    #expect(error.userInfo.count == 1 && error != UNError(.badgeInputInvalid))
    #expect(error == UNError(.badgeInputInvalid, userInfo: error.userInfo))
    #expect((error as NSError).localizedDescription.contains("negative"))
    let own = UNError(.attachmentCorrupt, userInfo: [NSLocalizedDescriptionKey: "Own text"])
    #expect(own.localizedDescription == "Own text")
    #expect((own as any Error).localizedDescription == "Own text")
    #expect(UNError.errorDomain == UNErrorDomain && (own as NSError).domain == UNErrorDomain)
  }

  @Test("A text without a translation is its key, with arguments in place of %@")
  func localized() {
    #expect(NSString.localizedUserNotificationString(forKey: "TITLE", arguments: nil) == "TITLE")
    let text = NSString.localizedUserNotificationString(
      forKey: "%@ of %@ for %@", arguments: [1, 2.5, "you"])
    #expect(text == "1 of 2.5 for you")
  }
}
