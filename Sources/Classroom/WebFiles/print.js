// SPDX-License-Identifier: Apache-2.0
// Shows the button that prints the sheet, which needs a script.
'use strict';

const button = document.getElementById('print');
button.hidden = false;
button.addEventListener('click', () => print());
