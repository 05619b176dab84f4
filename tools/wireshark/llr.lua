-- Wireshark dissector of link-level retry as lossylink writes it (docs/protocols/llr.md, LLR-21 and LLR-22).
--
--   tshark -X lua_script:tools/wireshark/llr.lua -r link.pcapng
--
-- A numbered frame has a shim, and what follows it goes to the dissector of its EtherType. A control set stands
-- by itself.

local llr = Proto("llr", "Link-level retry")

local ETHERTYPE = 0x88b6
local SHIM_LENGTH, SET_LENGTH = 6, 8
local NUMBER_MASK = 0x0fffff
local ACK, NACK, INIT, INIT_ECHO = 1, 2, 3, 4

local kinds = { [0] = "numbered frame", [ACK] = "ACK", [NACK] = "NACK", [INIT] = "INIT", [INIT_ECHO] = "INIT_ECHO" }

local f = {
    -- A shim shares the first octet with its flags; of a control set it is the kind as a whole.
    kind = ProtoField.uint8("llr.kind", "Kind", base.DEC, kinds),
    replay = ProtoField.bool("llr.replay", "Sent again", 8, nil, 0x80),
    poisoned = ProtoField.bool("llr.poisoned", "Broken before the link", 8, nil, 0x40),
    number = ProtoField.uint24("llr.number", "Number", base.DEC, nil, NUMBER_MASK),
    data = ProtoField.uint16("llr.data", "Data", base.HEX),
    next = ProtoField.uint16("llr.next", "EtherType of the frame", base.HEX),
    cut = ProtoField.uint32("llr.cut", "Bytes cut by the capture, taken as zeros"),
}
llr.fields = f

local e = {
    nack = ProtoExpert.new("llr.expert.nack", "Frames are missing", expert.group.SEQUENCE, expert.severity.NOTE),
    replay = ProtoExpert.new("llr.expert.replay", "Sent again", expert.group.SEQUENCE, expert.severity.NOTE),
    malformed = ProtoExpert.new("llr.expert.malformed", "Not a frame of link-level retry", expert.group.MALFORMED,
        expert.severity.ERROR),
}
llr.experts = e

local ethertypes = DissectorTable.get("ethertype")

-- Adds a subtree for a header of `length` bytes, or says that it is malformed.
local function subtree(tvb, tree, length, name)
    if tvb:len() < length then
        tree:add(llr, tvb()):add_proto_expert_info(e.malformed, name .. " ends early")
        return nil
    end
    return tree:add(llr, tvb(0, length), "Link-level retry, " .. name)
end

local function number_of(tvb)
    return bit.band(tvb(1, 3):uint(), NUMBER_MASK)
end

-- What follows a shim. Of a frame that the capture cut short the rest is taken to be zeros, as the simulator's
-- payloads are: a Lua script cannot hand on "cut" itself, and lengths and checksums shall stay right.
local function content_of(tvb, tree)
    local missing = tvb:reported_len() - tvb:len()
    if missing == 0 then return tvb(SHIM_LENGTH):tvb() end
    tree:add(f.cut, missing):set_generated()
    local bytes = tvb(SHIM_LENGTH):bytes()
    bytes:set_size(bytes:len() + missing)
    return bytes:tvb("Frame with zeros for what was cut")
end

local function dissect_frame(tvb, pinfo, root)
    local tree = subtree(tvb, root, SHIM_LENGTH, kinds[0])
    if tree == nil then return end
    local flags, number = tvb(0, 1), number_of(tvb)
    local is_replay = bit.band(flags:uint(), 0x80) ~= 0
    tree:add(f.kind, flags, 0)
    tree:add(f.replay, flags)
    tree:add(f.poisoned, flags)
    tree:add(f.number, tvb(1, 3))
    tree:add(f.next, tvb(4, 2))
    tree:append_text(" " .. number)
    if is_replay then tree:add_proto_expert_info(e.replay) end
    if tvb:len() > SHIM_LENGTH then
        ethertypes:try(tvb(4, 2):uint(), content_of(tvb, tree), pinfo, root)
    end
    pinfo.cols.info:prepend("[" .. number .. (is_replay and " sent again" or "") .. "] ")
end

local function dissect_set(tvb, pinfo, root, kind)
    local tree = subtree(tvb, root, SET_LENGTH, kinds[kind])
    if tree == nil then return end
    local number = number_of(tvb)
    tree:add(f.kind, tvb(0, 1))
    tree:add(f.number, tvb(1, 3))
    if kind == INIT or kind == INIT_ECHO then
        tree:add(f.data, tvb(4, 2))
        pinfo.cols.info = string.format("%s, next is %d, data 0x%04x", kinds[kind], number, tvb(4, 2):uint())
        return
    end
    if kind == NACK then tree:add_proto_expert_info(e.nack) end
    pinfo.cols.info = kinds[kind] .. " up to " .. number
end

function llr.dissector(tvb, pinfo, root)
    pinfo.cols.protocol = "LLR"
    if tvb:len() == 0 then return 0 end
    local first = tvb(0, 1):uint()
    if bit.band(first, 0x0f) == 0 then
        dissect_frame(tvb, pinfo, root)
    elseif first <= INIT_ECHO then
        dissect_set(tvb, pinfo, root, first)
    else
        root:add(llr, tvb(0, 1)):add_proto_expert_info(e.malformed, "unknown kind " .. first)
    end
    return tvb:len()
end

ethertypes:add(ETHERTYPE, llr)
