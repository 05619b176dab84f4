-- Wireshark dissector of LinkGuardian's headers as lossylink writes them (docs/protocols/wire.md, WIRE-4 to WIRE-9).
--
--   tshark -X lua_script:tools/wireshark/lossylink.lua -r link.pcapng
--
-- What a data header protects, or a piggy-backed ACK rides on, goes to the dissector of its EtherType.

local linkguardian = Proto("linkguardian", "LinkGuardian")

local ETHERTYPE = 0xabcd
local DATA, ACK, NOTIFICATION = 0, 1, 2
local HEADER_LENGTH, NOTIFICATION_LENGTH, NEXT_LENGTH = 3, 6, 2
local MORE_THAN_SHOWN = 255 -- a hole of that size or larger

local kinds = { [0] = "data", [1] = "ACK", [2] = "loss notification", [3] = "inside a switch only" }

local f = {
    kind = ProtoField.uint8("linkguardian.type", "Type", base.DEC, kinds, 0xc0),
    era = ProtoField.uint8("linkguardian.era", "Era", base.DEC, nil, 0x10),
    retransmission = ProtoField.bool("linkguardian.retransmission", "Retransmission", 8, nil, 0x08),
    dummy = ProtoField.bool("linkguardian.dummy", "Dummy", 8, nil, 0x04),
    blocking = ProtoField.bool("linkguardian.blocking_mode", "Ordered delivery", 8, nil, 0x02),
    buffered = ProtoField.bool("linkguardian.rx_buffered", "In the receiver's buffer", 8, nil, 0x01),
    sequence = ProtoField.uint16("linkguardian.seq", "Sequence number"),
    piggybacked = ProtoField.bool("linkguardian.piggybacked", "Piggy-backed", 8, nil, 0x20),
    ack_era = ProtoField.uint8("linkguardian.ack_era", "Era of the leading ACK", base.DEC, nil, 0x10),
    leading_ack = ProtoField.uint16("linkguardian.leading_ack", "Leading ACK"),
    hole_size = ProtoField.uint8("linkguardian.hole_size", "Hole size"),
    first_lost = ProtoField.uint16("linkguardian.first_lost", "First lost sequence number"),
    lost = ProtoField.uint16("linkguardian.lost", "Lost sequence number"),
    next = ProtoField.uint16("linkguardian.next", "Next header", base.HEX),
    cut = ProtoField.uint32("linkguardian.cut", "Bytes cut by the capture, taken as zeros"),
}
linkguardian.fields = f

local e = {
    loss = ProtoExpert.new("linkguardian.expert.loss", "Frames were lost", expert.group.SEQUENCE, expert.severity.NOTE),
    copy = ProtoExpert.new("linkguardian.expert.copy", "Sent again on request", expert.group.SEQUENCE,
        expert.severity.NOTE),
    malformed = ProtoExpert.new("linkguardian.expert.malformed", "Not a LinkGuardian header", expert.group.MALFORMED,
        expert.severity.ERROR),
}
linkguardian.experts = e

local ethertypes = DissectorTable.get("ethertype")

-- Adds a subtree for a header of `length` bytes, or says that it is malformed.
local function subtree(tvb, tree, length, name)
    if tvb:len() < length then
        tree:add(linkguardian, tvb()):add_proto_expert_info(e.malformed, name .. " ends early")
        return nil
    end
    return tree:add(linkguardian, tvb(0, length), "LinkGuardian " .. name)
end

-- What follows a header. Of a frame that the capture cut short the rest is taken to be zeros, as the simulator's
-- payloads are: a Lua script cannot hand on "cut" itself, and lengths and checksums shall stay right.
local function content_of(tvb, offset, tree)
    local missing = tvb:reported_len() - tvb:len()
    if missing == 0 then return tvb(offset):tvb() end
    tree:add(f.cut, missing):set_generated()
    local bytes = tvb(offset):bytes()
    bytes:set_size(bytes:len() + missing)
    return bytes:tvb("Frame with zeros for what was cut")
end

-- Hands what follows a header to the dissector of its EtherType; the summary line keeps `summary` in front.
local function dissect_content(tvb, offset, pinfo, root, tree, summary)
    local ethertype = tvb(offset - NEXT_LENGTH, NEXT_LENGTH):uint()
    ethertypes:try(ethertype, content_of(tvb, offset, tree), pinfo, root)
    pinfo.cols.info:prepend("[" .. summary .. "] ")
end

local function dissect_data(tvb, pinfo, root, summary)
    local is_dummy = tvb:len() > 0 and bit.band(tvb(0, 1):uint(), 0x04) ~= 0
    local length = is_dummy and HEADER_LENGTH or HEADER_LENGTH + NEXT_LENGTH
    local tree = subtree(tvb, root, length, is_dummy and "dummy" or "data")
    if tree == nil then return end
    local flags = tvb(0, 1)
    for _, field in ipairs({ f.kind, f.era, f.retransmission, f.dummy, f.blocking, f.buffered }) do
        tree:add(field, flags)
    end
    tree:add(f.sequence, tvb(1, 2))
    local position = bit.rshift(bit.band(flags:uint(), 0x10), 4) .. ":" .. tvb(1, 2):uint()
    tree:append_text(", " .. position)
    if is_dummy then
        pinfo.cols.info = "dummy, next is " .. position
        return
    end
    local is_copy = bit.band(flags:uint(), 0x08) ~= 0
    if is_copy then tree:add_proto_expert_info(e.copy) end
    tree:add(f.next, tvb(HEADER_LENGTH, NEXT_LENGTH))
    dissect_content(tvb, length, pinfo, root, tree, summary .. position .. (is_copy and " sent again" or ""))
end

-- The part that an ACK and a loss notification have in common; returns era and number as text.
local function add_leading_ack(tvb, tree)
    local flags = tvb(0, 1)
    tree:add(f.kind, flags)
    tree:add(f.piggybacked, flags)
    tree:add(f.ack_era, flags)
    tree:add(f.leading_ack, tvb(1, 2))
    return bit.rshift(bit.band(flags:uint(), 0x10), 4) .. ":" .. tvb(1, 2):uint()
end

local function dissect_ack(tvb, pinfo, root)
    local is_piggybacked = bit.band(tvb(0, 1):uint(), 0x20) ~= 0
    local length = is_piggybacked and HEADER_LENGTH + NEXT_LENGTH or HEADER_LENGTH
    local tree = subtree(tvb, root, length, is_piggybacked and "piggy-backed ACK" or "ACK")
    if tree == nil then return end
    local leading = add_leading_ack(tvb, tree)
    tree:append_text(" up to " .. leading)
    if not is_piggybacked then
        pinfo.cols.info = "ACK up to " .. leading
        return
    end
    local next_header = tvb(HEADER_LENGTH, NEXT_LENGTH)
    tree:add(f.next, next_header)
    if next_header:uint() == ETHERTYPE then
        dissect_data(content_of(tvb, length, tree), pinfo, root, "ACK " .. leading .. ", ")
    else
        dissect_content(tvb, length, pinfo, root, tree, "ACK " .. leading)
    end
end

local function dissect_notification(tvb, pinfo, root)
    local tree = subtree(tvb, root, NOTIFICATION_LENGTH, "loss notification")
    if tree == nil then return end
    local leading = add_leading_ack(tvb, tree)
    local size, first = tvb(3, 1):uint(), tvb(4, 2):uint()
    tree:add(f.hole_size, tvb(3, 1))
    tree:add(f.first_lost, tvb(4, 2))
    for step = 0, size - 1 do
        tree:add(f.lost, tvb(3, 3), bit.band(first + step, 0xffff)):set_generated()
    end
    tree:add_proto_expert_info(size > 0 and e.loss or e.malformed)
    local count = size == MORE_THAN_SHOWN and size .. " or more" or tostring(size)
    pinfo.cols.info = string.format("loss notification: %s lost from %d on, ACK up to %s", count, first, leading)
end

function linkguardian.dissector(tvb, pinfo, root)
    pinfo.cols.protocol = "LinkGuardian"
    if tvb:len() == 0 then return 0 end
    local kind = bit.rshift(tvb(0, 1):uint(), 6)
    if kind == DATA then
        dissect_data(tvb, pinfo, root, "")
    elseif kind == ACK then
        dissect_ack(tvb, pinfo, root)
    elseif kind == NOTIFICATION then
        dissect_notification(tvb, pinfo, root)
    else
        root:add(linkguardian, tvb(0, 1)):add_proto_expert_info(e.malformed, kinds[kind])
    end
    return tvb:len()
end

ethertypes:add(ETHERTYPE, linkguardian)
