// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import UserNotifications

/// The onboarding pages. Each answer leads to the next page.
public final class Onboarding {
  /// The current page.
  public private(set) var step = OnboardingStep.welcome
  /// An error to show above the page.
  public private(set) var problem: String?

  private let notifications: ExposureNotifications
  private let backgroundCheck: BackgroundCheck

  init(notifications: ExposureNotifications, backgroundCheck: BackgroundCheck) {
    self.notifications = notifications
    self.backgroundCheck = backgroundCheck
  }

  /// Answers the current page; `completion` is called when the next page is ready.
  public func answer(_ isYes: Bool, completion: @escaping () -> Void) {
    problem = nil
    switch step {
    case .welcome: go(to: isYes ? .enable : .welcome, completion)
    case .enable: isYes ? enable(completion) : go(to: .recommendEnabling, completion)
    case .recommendEnabling: isYes ? enable(completion) : go(to: .notifyingOthers, completion)
    case .recommendSettings:
      isYes && notifications.authorization == .authorized
        ? enable(completion) : go(to: .notifyingOthers, completion)
    case .recommendNotices: go(to: .notifyingOthers, completion)
    case .notifyingOthers: finish(completion)
    case .finished: completion()
    }
  }

  private func go(to next: OnboardingStep, _ completion: () -> Void) {
    step = next
    completion()
  }

  private func enable(_ completion: @escaping () -> Void) {
    notifications.setEnabled(true) { [self] error in
      switch error {
      case nil:
        backgroundCheck.schedule()
        allowNotices(completion)
      case let error as ENError where error.code == .notAuthorized:
        go(to: .recommendSettings, completion)
      case let error?:
        problem = error.localizedDescription
        go(to: .enable, completion)
      }
    }
  }

  private func allowNotices(_ completion: @escaping () -> Void) {
    let center = UNUserNotificationCenter.current()
    center.requestAuthorization(options: [.alert, .sound, .badge]) { isAllowed, _ in
      DispatchQueue.main.async {
        self.go(to: isAllowed ? .notifyingOthers : .recommendNotices, completion)
      }
    }
  }

  private func finish(_ completion: () -> Void) {
    notifications.store.isOnboarded = true
    go(to: .finished, completion)
  }
}

/// A page of the onboarding.
public enum OnboardingStep: Equatable {
  case welcome
  case enable
  /// After "not now": explains the loss and offers a second chance.
  case recommendEnabling
  /// After a refusal in the system's dialog, which appears only once: refers to the settings.
  case recommendSettings
  case recommendNotices
  case notifyingOthers
  case finished

  /// The question of the page, answered with yes or no.
  public var question: String {
    switch self {
    case .welcome: return "This app tells you if you were near someone with the disease. Begin?"
    case .enable: return "Switch exposure notification on?"
    case .recommendEnabling:
      return "Without it you receive no warnings and cannot warn others. Switch it on now?"
    case .recommendSettings:
      return "Exposure notification is off in the phone's settings. Have you changed them?"
    case .recommendNotices:
      return "The app may not notify you, so open it now and then. Continue?"
    case .notifyingOthers:
      return "If you test positive you can warn those who were near you. Understood?"
    case .finished: return ""
    }
  }
}
