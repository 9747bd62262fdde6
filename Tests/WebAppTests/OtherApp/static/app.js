// SPDX-License-Identifier: Apache-2.0
// A single-page app for the bridge, written as apps for phones were: requests by counter, a table of promises, one
// router on the history, and either interface.
(function () {
  var requests = {};
  var counter = 0;

  window.bridgeDataResponse = function (body, type, requestId) {
    var request = requests[requestId];
    delete requests[requestId];
    if (request) request(body === '' ? '' : JSON.parse(body));
  };

  function viaIOS(type, data) {
    return new Promise(function (resolve) {
      var requestId = 'request-' + (++counter);
      requests[requestId] = resolve;
      window.webkit.messageHandlers.getBridgeData.postMessage({
        type: type, data: data ? JSON.stringify(data) : undefined, requestId: requestId,
      });
    });
  }

  function viaAndroid(type, data) {
    return new Promise(function (resolve) {
      var requestId = 'request-' + (++counter);
      requests[requestId] = resolve;
      window.NativeBridge.getBridgeData(type, data ? JSON.stringify(data) : '', requestId);
    });
  }

  function setViaIOS(type, data) {
    window.webkit.messageHandlers.setBridgeData.postMessage({ type: type, data: JSON.stringify(data) });
  }

  function setViaAndroid(type, data) {
    window.NativeBridge.setBridgeData(type, JSON.stringify(data));
  }

  var routes = {
    '/': function (root) {
      return viaIOS(61).then(function (answer) {
        root.innerHTML = '<p class="risk" data-level="' + answer.riskLevel + '">Risk</p>';
      });
    },
    '/historyActivities': function (root) {
      return viaAndroid(90).then(function (answer) {
        root.innerHTML = '<p class="rows">' + answer.riskChecks.length + '</p>';
      });
    },
  };

  function show() {
    var root = document.getElementById('root');
    var route = routes[location.pathname];
    if (route) route(root).then(function () { root.dataset.route = location.pathname; });
    else root.dataset.route = 'unknown';
  }

  window.otherApp = {
    viaIOS: viaIOS, viaAndroid: viaAndroid, setViaIOS: setViaIOS, setViaAndroid: setViaAndroid,
    go: function (path) { history.pushState(null, '', path); show(); },
  };
  window.addEventListener('popstate', show);
  if (navigator.serviceWorker) navigator.serviceWorker.register('/sw.js');
  show();
}());
