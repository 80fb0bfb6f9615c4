// split_events.js: cuts a Chrome trace into the bytes of its events and the document around them,
// without holding the file. SPDX-License-Identifier: MIT
'use strict';

const LIMIT = 1 << 30;
const [QUOTE, COMMA, BACKSLASH] = [34, 44, 92];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

// Calls onEvent(bytes, offset) for each element of the top-level "traceEvents" array and returns
// the other bytes of the document with that array emptied. Judges nothing but the commas between
// events: the pieces and the shell are for a JSON parser, and the file is valid if all of them are.
async function splitEvents(chunks, onEvent, onProblem) {
    let depth = 0;
    let inString = false;
    let escaped = false;
    let inside = false; // in the traceEvents array
    let offset = 0;     // of the current chunk in the document
    let pieceStart = 0; // offset of the current piece
    let piece = [];
    let pieceBytes = 0;
    let shell = [];
    let events = 0;
    let arrays = 0;
    let lastString = '';
    let stringStart = -1;
    let stringBytes = [];

    const shellPush = (bytes) => {
        if (bytes.length > 0)
            shell.push(Buffer.from(bytes));
    };
    const finishPiece = (last) => {
        const bytes = piece.length === 1 ? piece[0] : Buffer.concat(piece);
        const blank = bytes.toString('latin1').trim() === '';
        if (!blank) {
            events++;
            onEvent(bytes, pieceStart);
        } else if (!last || events > 0) {
            onProblem(`offset ${pieceStart}: a comma with no event`);
        }
        piece = [];
        pieceBytes = 0;
    };

    for await (const chunk of chunks) {
        let from = 0;
        for (let i = 0; i < chunk.length; i++) {
            const c = chunk[i];
            if (inString) {
                if (escaped)
                    escaped = false;
                else if (c === BACKSLASH)
                    escaped = true;
                else if (c === QUOTE) {
                    inString = false;
                    if (!inside && depth === 1) {
                        stringBytes.push(Buffer.from(chunk.subarray(stringStart, i)));
                        lastString = Buffer.concat(stringBytes).toString('utf8');
                        stringBytes = [];
                    }
                }
                continue;
            }
            switch (c) {
            case QUOTE:
                inString = true;
                stringStart = i + 1;
                break;
            case OPEN_ARRAY:
                if (!inside && depth === 1 && lastString === 'traceEvents') {
                    shellPush(chunk.subarray(from, i + 1));
                    from = i + 1;
                    inside = true;
                    arrays++;
                    events = 0;
                    pieceStart = offset + i + 1;
                }
                depth++;
                break;
            case OPEN_OBJECT:
                depth++;
                break;
            case CLOSE_ARRAY:
                depth--;
                if (inside && depth === 1) {
                    piece.push(chunk.subarray(from, i));
                    from = i;
                    finishPiece(true);
                    inside = false;
                    lastString = '';
                }
                break;
            case CLOSE_OBJECT:
                depth--;
                break;
            case COMMA:
                if (inside && depth === 2) {
                    piece.push(chunk.subarray(from, i));
                    from = i + 1;
                    finishPiece(false);
                    pieceStart = offset + i + 1;
                } else if (depth === 1) {
                    lastString = '';
                }
                break;
            default:
                break;
            }
        }
        if (inString && !inside && depth === 1) {
            stringBytes.push(Buffer.from(chunk.subarray(stringStart)));
            stringStart = 0;
        } else if (inString) {
            stringStart = 0;
        }
        if (inside) {
            piece.push(Buffer.from(chunk.subarray(from)));
            pieceBytes += chunk.length - from;
            if (pieceBytes > LIMIT)
                throw new Error('an event larger than 1 GiB, or an array that never ends');
        } else {
            shellPush(chunk.subarray(from));
        }
        offset += chunk.length;
    }
    if (inside)
        onProblem('the traceEvents array never ends');
    return { shell: Buffer.concat(shell), arrays, bytes: offset };
}

module.exports = { splitEvents };
