/// The numbers of the messages. Those below 1000 are ProteGO Safe's; Documentation/Bridge.md lists all of them.
enum MessageID {
  static let dailyTopicUnsubscribe = 1
  static let applicationLifecycle = 11
  static let notificationsPermission = 35
  static let clearData = 37
  static let upload = 43
  static let serviceStatus = 51
  static let setServices = 52
  static let riskLevel = 61
  static let appVersion = 62
  static let language = 63
  static let turnOff = 64
  static let fontScale = 65
  static let clearExposureRisk = 66
  static let backPressed = 67
  static let appReview = 68
  static let route = 69
  static let allDistricts = 70
  static let fetchDistricts = 71
  static let districtAction = 72
  static let subscribedDistricts = 73
  static let labTestUpload = 80
  static let labTestSubscription = 81
  static let labTestPIN = 82
  static let activities = 90
  static let removeActivities = 91
  static let statisticsNotification = 100
  static let setStatisticsNotification = 101
  static let dashboard = 102
  static let checkTotals = 103
  static let details = 104
  static let sendSMS = 105

  static let state = 1_000
  static let exposures = 1_001
  static let traffic = 1_002
  static let exportMyData = 1_003
  static let onboarding = 1_004
  static let checkNow = 1_005
  static let guidedUpload = 1_006
  static let unfinishedUpload = 1_007
  static let remove = 1_008
  static let travel = 1_009
  static let preferences = 1_010
  static let uploadPreview = 1_011
  static let developer = 1_012

  /// Messages that wait for servers several times.
  static let long: Set<Int> = [upload, guidedUpload, unfinishedUpload]
}
