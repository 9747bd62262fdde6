import ExposureNotification
import Foundation
import UserNotifications

/// The way through the first pages. Each answer leads to the next page.
public final class Onboarding {
  /// The page that the person sees.
  public private(set) var step = OnboardingStep.welcome
  /// What went wrong on this page, to be shown above it.
  public private(set) var problem: String?

  private let notifications: ExposureNotifications
  private let backgroundCheck: BackgroundCheck

  init(notifications: ExposureNotifications, backgroundCheck: BackgroundCheck) {
    self.notifications = notifications
    self.backgroundCheck = backgroundCheck
  }

  /// Answers the page; `completion` is called when the next one is there.
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
