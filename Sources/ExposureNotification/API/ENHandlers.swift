/// Called with what a detection found, or with the reason it failed.
public typealias ENDetectExposuresHandler = (ENExposureDetectionSummary?, (any Error)?) -> Void
/// Called with the exposures of a detection of API version 1.
public typealias ENGetExposureInfoHandler = ([ENExposureInfo]?, (any Error)?) -> Void
/// Called with the exposure windows of a detection of API version 2.
public typealias ENGetExposureWindowsHandler = ([ENExposureWindow]?, (any Error)?) -> Void
